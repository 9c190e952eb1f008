// SPDX-License-Identifier: BSL-1.0
//
// What gyre/http/request_limit.hpp promises: a rate for each key, 429 beyond it, and bounded memory.
#include <gyre/http/request_limit.hpp>

#include <gyre/sync/sleep.hpp>
#include <gyre/test/world.hpp>

#include <base/ending.hpp>
#include <doctest/doctest.h>
#include <gyre/base/build.hpp>

#include <malloc.h>

#include <chrono>
#include <string>
#include <string_view>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

// How many of `count` requests of `peer` get to the handler, and what the last refused one is told.
struct outcome {
    int served = 0;
    std::string retry_after;
};

task<outcome> ask(const http::handler& handle, std::string_view peer, int count) {
    outcome got;
    for (int each = 0; each < count; ++each) {
        http::request what{http::method::get, "/"};
        what.set_peer(peer);
        http::response answer = co_await handle(what);
        if (answer.status == http::status::ok) ++got.served;
        else got.retry_after = answer.fields.value_or("retry-after");
        CHECK((answer.status == http::status::ok ||
               answer.status == http::status::too_many_requests));
    }
    co_return got;
}

task<http::response> serve(http::request&) { co_return http::response{http::status::ok}; }

http::handler limited_by(http::request_limit_options options) {
    options.requests = {2, 10s, 4};
    return http::limit_requests(std::move(options))(serve);
}

void in_a_world(task<> body) {
    test::world world;
    auto ended = world.run(world.add("here"), std::move(body), 1h);
    CHECK_MESSAGE(ended.ok(), ended.text());
}

}  // namespace

// RFC 6585, 4.
TEST_CASE("requests beyond a peer's rate are answered with 429, and others are not") {
    const auto body = []() -> task<> {
        const http::handler handle = limited_by({});
        const outcome first = co_await ask(handle, "192.0.2.1:1000", 6);
        CHECK(first.served == 4);
        CHECK(first.retry_after == "5");
        const outcome same = co_await ask(handle, "192.0.2.1:2000", 1);
        CHECK(same.served == 0);
        const outcome other = co_await ask(handle, "192.0.2.2:1000", 4);
        CHECK(other.served == 4);
        const outcome local = co_await ask(handle, "", 10);
        CHECK(local.served == 10);
        static_cast<void>(co_await sleep_for(5s));
        const outcome later = co_await ask(handle, "192.0.2.1:1000", 2);
        CHECK(later.served == 1);
        static_cast<void>(co_await sleep_for(1min));
        const outcome rested = co_await ask(handle, "192.0.2.1:1000", 9);
        CHECK(rested.served == 4);
    };
    in_a_world(body());
}

TEST_CASE("a program's own key says whose request it is, and keys beyond the bound are forgotten") {
    const auto body = []() -> task<> {
        http::request_limit_options options;
        options.key = [](const http::request& what) { return std::string{what.peer()}; };
        options.keys_max = 2;
        const http::handler handle = limited_by(options);
        const outcome of_a = co_await ask(handle, "a", 3);
        CHECK(of_a.served == 3);
        const outcome of_b = co_await ask(handle, "b", 3);
        CHECK(of_b.served == 3);
        const outcome of_a_again = co_await ask(handle, "a", 3);
        CHECK(of_a_again.served == 1);
        const outcome third = co_await ask(handle, "c", 3);  // In the place of b.
        CHECK(third.served == 3);
        const outcome known = co_await ask(handle, "a", 3);
        CHECK(known.served == 0);
        const outcome anew = co_await ask(handle, "b", 9);
        CHECK(anew.served == 4);
    };
    in_a_world(body());
}

TEST_CASE("keys are forgotten as well for the room that their texts take") {
    const auto body = []() -> task<> {
        http::request_limit_options options;
        options.key = [](const http::request& what) { return std::string{what.peer()}; };
        options.key_bytes_max = 100;
        const http::handler handle = limited_by(options);
        const std::string a(50, 'a');
        const std::string b(50, 'b');
        const std::string large(1'000, 'l');
        const outcome of_a = co_await ask(handle, a, 4);
        CHECK(of_a.served == 4);
        const outcome of_b = co_await ask(handle, b, 4);
        CHECK(of_b.served == 4);
        const outcome both_known = co_await ask(handle, a, 1);
        CHECK(both_known.served == 0);
        const outcome third = co_await ask(handle, "c", 4);  // In the place of b.
        CHECK(third.served == 4);
        const outcome still_known = co_await ask(handle, a, 1);
        CHECK(still_known.served == 0);
        const outcome anew = co_await ask(handle, b, 9);
        CHECK(anew.served == 4);
        const outcome alone = co_await ask(handle, large, 9);
        CHECK(alone.served == 4);
        const outcome again = co_await ask(handle, large, 9);
        CHECK(again.served == 0);
        const outcome last = co_await ask(handle, a, 9);
        CHECK(last.served == 4);
    };
    in_a_world(body());
}

TEST_CASE("keys that clients choose take no more memory than they may") {
    const auto body = []() -> task<> {
        http::request_limit_options options;
        options.key = [](const http::request& what) { return std::string{what.peer()}; };
        options.keys_max = 1'000;
        const http::handler handle = limited_by(options);
        const auto memory_in_use = [] { return ::mallinfo2().uordblks + ::mallinfo2().hblkhd; };
        const std::size_t before = memory_in_use();
        for (int each = 0; each < 1'000; ++each) {
            const std::string name = std::to_string(each) + std::string(60'000, 'k');
            const outcome got = co_await ask(handle, name, 1);
            CHECK(got.served == 1);
        }
        if (recycles_memory) CHECK(memory_in_use() - before < 20'000'000);
        const outcome last = co_await ask(handle, "999" + std::string(60'000, 'k'), 9);
        CHECK(last.served == 3);  // It is remembered as any other.
    };
    in_a_world(body());
}

TEST_CASE("a limit that remembers no key is the program's mistake") {
    const auto making = [] {
        http::request_limit_options options;
        options.keys_max = 0;
        static_cast<void>(http::limit_requests(options));
    };
    CHECK(ending_of(making).said_that("at least one key is remembered"));
}
