// SPDX-License-Identifier: BSL-1.0
//
// How a loop orders operations: sends that would find no room, and what waits in the kernel beside what
// does not. The rest of an operation's life is in tests/laws/scripted_backend_test.cpp.
#include <gyre/coro/launch.hpp>
#include <gyre/io/stream_socket.hpp>
#include <laws/scripted_backend.hpp>
#include <support/harness.hpp>

#include <array>
#include <cstddef>
#include <vector>

using namespace gyre;
using namespace gyre::testing;

namespace {

struct fixture : scripted_loop {
    stream_socket socket = stream_socket::adopt(io, 7);
    int resumptions = 0;
    error failed;
};

}  // namespace

TEST_CASE("the send after a short one waits for the next turn, and is then begun") {
    fixture on;
    std::size_t submitted_before_the_turn = 99;
    on.script->inline_results = {5};
    const auto write = [&]() -> task<> {
        const io_result<std::size_t> filling = co_await on.socket.write_some(bytes_of("12345678"));
        on.io.post([&] { submitted_before_the_turn = on.script->submitted.size(); });
        const io_result<std::size_t> more = co_await on.socket.write_some(bytes_of("678"));
        CHECK(filling.value() == 5);
        CHECK(more.value() == 3);
        ++on.resumptions;
    };
    launch(on.io, write(), or_terminate{});
    on.script->steps.emplace_back(
        [&] { on.script->complete_later(*on.script->submitted.front(), 3); });

    on.io.run();

    CHECK(submitted_before_the_turn == 0);
    CHECK(on.resumptions == 1);
}

TEST_CASE("the send after a whole one is begun at once") {
    fixture on;
    on.script->inline_results = {8, 8};
    const auto write = [&]() -> task<> {
        static_cast<void>(co_await on.socket.write_some(bytes_of("12345678")));
        static_cast<void>(co_await on.socket.write_some(bytes_of("12345678")));
        CHECK(on.script->inline_results.empty());
        on.resumptions = 1;
    };
    launch(on.io, write(), or_terminate{});

    CHECK(on.io.run_one() == 1);

    CHECK(on.resumptions == 1);
}

TEST_CASE("a send that was never begun is canceled without the backend") {
    fixture on;
    on.script->inline_results = {5};
    SUBCASE("by a stop") {
        stop_handle stop;
        const auto write = [&]() -> task<> {
            static_cast<void>(co_await on.socket.write_some(bytes_of("12345678")));
            on.io.post([&] { stop.request_stop(); });
            on.failed = (co_await on.socket.write_some(bytes_of("678"))).error();
            ++on.resumptions;
        };
        stop = launch(on.io, write(), or_terminate{});
        on.io.run();
    }
    SUBCASE("by closing the socket") {
        const auto write = [&]() -> task<> {
            static_cast<void>(co_await on.socket.write_some(bytes_of("12345678")));
            on.io.post([&] { CHECK(on.socket.close().ok()); });
            on.failed = (co_await on.socket.write_some(bytes_of("678"))).error();
            ++on.resumptions;
        };
        launch(on.io, write(), or_terminate{});
        on.io.run();
    }

    CHECK(on.resumptions == 1);
    CHECK(on.failed == errc::canceled);
    CHECK(on.script->submitted.empty());
    CHECK(on.script->canceled.empty());
}

TEST_CASE("large sends that waited for a turn are begun one a turn, and a poll begins them all") {
    fixture on;
    stream_socket other = stream_socket::adopt(on.io, 8);
    const std::vector<std::byte> large(100'000);
    std::vector<int> written;
    on.script->inline_results = {70'000, 70'000, 70'000, 70'000};
    const auto write = [&](stream_socket& to, int name) -> task<> {
        static_cast<void>(co_await to.write_some(large));
        static_cast<void>(co_await to.write_some(large));
        written.push_back(name);
        // Resumed before the other one was begun.
        if (name == 1) CHECK(on.script->inline_results.size() == 1);
    };
    launch(on.io, write(on.socket, 1), or_terminate{});
    launch(on.io, write(other, 2), or_terminate{});

    on.io.poll();

    CHECK(written == std::vector{1, 2});
    CHECK(on.script->inline_results.empty());
}

TEST_CASE(
    "a coroutine that never has to wait gives way after a few steps to what waits in the kernel") {
    fixture on;
    stream_socket other = stream_socket::adopt(on.io, 8);
    constexpr int steps_max = 1000;
    int steps = 0;
    int steps_before_the_other = 0;
    const auto patient = [&]() -> task<> {
        std::array<std::byte, 8> space;
        const io_result<std::size_t> got = co_await other.read_some(space);
        CHECK(got.value() == 3);
        steps_before_the_other = steps;
    };
    const auto greedy = [&]() -> task<> {
        std::array<std::byte, 8> space;
        on.script->complete_later(*on.script->submitted.front(), 3);  // With the next turn.
        on.script->inline_results.assign(steps_max, 1);
        for (; steps < steps_max; ++steps) {
            static_cast<void>(co_await on.socket.read_some(space));
        }
    };
    launch(on.io, patient(), or_terminate{});
    launch(on.io, greedy(), or_terminate{});

    on.io.run();

    CHECK(steps == steps_max);
    CHECK(steps_before_the_other > 0);
    CHECK(steps_before_the_other < 20);
}
