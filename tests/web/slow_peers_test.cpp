// SPDX-License-Identifier: BSL-1.0
//
// HTTP/1 and HTTP/2 with peers that take and give a few hundred bytes a second: no limit on silence ends
// them, whatever a write, a record of TLS or a batch of frames takes.
#include <gyre/http/client_connection.hpp>
#include <gyre/http/serve_connection.hpp>
#include <gyre/http2/client_connection.hpp>
#include <gyre/http2/serve_connection.hpp>
#include <gyre/stream/any_stream.hpp>
#include <gyre/stream/memory_pipe.hpp>
#include <gyre/stream/throttled_stream.hpp>
#include <gyre/sync/rate_limiter.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/test/world.hpp>
#include <gyre/tls/stream.hpp>

#include "trust.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <utility>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

// A record of 16 KiB takes 40 s, and a write of 64 KiB more than two minutes; limits on silence are 30 s.
constexpr std::uint64_t bytes_a_second = 400;
constexpr std::size_t body_size = 150'000;

task<http::response> answer(http::request& what) {
    const io_result<std::string> came = co_await what.body.read_all(1 << 20);
    if (!came.ok()) co_return http::response{http::status::bad_request};
    co_return http::response{http::status::ok, "text/plain",
                             came.value().empty() ? std::string(body_size, 'd') : came.value()};
}

tls::stream_options patient() {
    tls::stream_options options;
    options.handshake_wait = 1h;
    return options;
}

// One connection, on a transport whose client side is slow in both directions.
class slow_pair {
public:
    explicit slow_pair(loop& on)
        : reads_{on, rate_limit{bytes_a_second, 1s, 100}},
          writes_{on, rate_limit{bytes_a_second, 1s, 100}} {
        memory_pipe pipe{1000};
        client = any_stream{throttled_stream{std::move(pipe.first), throttles{&reads_, &writes_}}};
        server = any_stream{std::move(pipe.second)};
    }

    task<> encrypt() {
        const auto connects = [this]() -> task<> {
            const tls::context settings = trust::get().client;
            const tls::stream_options options = patient();
            auto made = co_await tls::connect(std::move(client), settings, "localhost", options);
            CHECK(made.ok());
            client = any_stream{made.take()};
        };
        const auto accepts = [this]() -> task<> {
            const tls::context settings = trust::get().server;
            const tls::stream_options options = patient();
            auto made = co_await tls::accept(std::move(server), settings, options);
            CHECK(made.ok());
            server = any_stream{made.take()};
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(connects());
            group.spawn(accepts());
            co_return;
        };
        co_await with_group(body);
    }

    any_stream client;
    any_stream server;

private:
    rate_limiter reads_;
    rate_limiter writes_;
};

template <class Client>
task<> check_carries(Client& client, http::method how, std::string text) {
    http::request what{how, "/"};
    what.set_authority("localhost");
    auto got = co_await client.send(what, http::response_body{text});
    CHECK_MESSAGE(got.ok(), got.error().message());
    if (!got.ok()) co_return;
    const io_result<std::string> body = co_await got.value().body.read_all(1 << 20);
    CHECK_MESSAGE(body.ok(), body.error().message());
    const bool is_whole = body.value() == (text.empty() ? std::string(body_size, 'd') : text);
    CHECK(is_whole);
}

task<> check_http1(slow_pair& on) {
    const http::handler handle = answer;
    http::connection_options options;
    options.linger_time_max = 1h;
    const http::connection_hooks hooks;
    http::client_options asking;
    asking.response_time_max = 1h;
    io_result<> ended = errc::busy;
    const auto serves = [&]() -> task<> {
        ended = co_await http::serve_connection(std::move(on.server), handle, options, hooks);
    };
    const auto body = [&](task_group& group) -> task<> {
        group.spawn(serves());
        http::client_connection client{std::move(on.client), asking};
        const std::string text(body_size, 'u');
        co_await check_carries(client, http::method::get, "");
        co_await check_carries(client, http::method::post, text);
        group.request_stop();
    };
    co_await with_group(body);
    CHECK_MESSAGE(ended.error() == errc::canceled, ended.error().message());
}

task<> check_http2(slow_pair& on) {
    const http::handler handle = answer;
    const http2::connection_options options;
    http2::breach broken = http2::breach::none;
    http2::connection_hooks hooks;
    hooks.on_breach = [&broken](http2::breach why) { broken = why; };
    http2::client_options asking;
    asking.response_time_max = 1h;
    asking.times.settings_max = 1h;  // No limit on silence: the answer stands in a record's middle.
    asking.times.head_max = 1h;
    io_result<> ended = errc::busy;
    const auto serves = [&]() -> task<> {
        ended = co_await http2::serve_connection(std::move(on.server), handle, options, hooks);
    };
    const auto body = [&](task_group& group) -> task<> {
        group.spawn(serves());
        http2::client_connection client{std::move(on.client), asking};
        const auto runs = [&]() -> task<> { static_cast<void>(co_await client.run()); };
        group.spawn(runs());
        const std::string text(body_size, 'u');
        co_await check_carries(client, http::method::get, "");
        co_await check_carries(client, http::method::post, text);
        group.request_stop();
        co_await group.join();
    };
    co_await with_group(body);
    CHECK_MESSAGE(ended.error() == errc::canceled, ended.error().message());
    CHECK(broken == http2::breach::none);
}

void check_slowly(task<> (*carries)(slow_pair&), bool over_tls) {
    test::world world;
    test::machine& here = world.add("here");
    const auto run = [&]() -> task<> {
        slow_pair pair{here.io()};
        if (over_tls) co_await pair.encrypt();
        co_await carries(pair);
    };
    auto outcome = world.run(here, run(), 24h);
    CHECK_MESSAGE(outcome.ok(), outcome.text());
    if (outcome.ok()) outcome.take();
}

}  // namespace

TEST_CASE("HTTP/1 in a world: who takes and gives little at a time is not silent") {
    check_slowly(check_http1, false);
}

TEST_CASE("HTTP/1 over TLS in a world: who takes and gives little at a time is not silent") {
    check_slowly(check_http1, true);
}

TEST_CASE("HTTP/2 in a world: who takes and gives little at a time is not silent") {
    check_slowly(check_http2, false);
}

TEST_CASE("HTTP/2 over TLS in a world: who takes and gives little at a time is not silent") {
    check_slowly(check_http2, true);
}
