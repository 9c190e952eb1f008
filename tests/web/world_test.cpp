// SPDX-License-Identifier: BSL-1.0
//
// Web servers and clients on networks that delay, lose, break and fall silent, and peers that are slow on
// purpose, with the limits that programs have: in worlds, where an hour takes no time. Files and workers have
// no model there.
#include <gyre/web/client.hpp>
#include <gyre/web/server.hpp>

#include <gyre/coro/this_task.hpp>
#include <gyre/io/acceptor.hpp>
#include <gyre/io/stream_socket.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/test/world.hpp>
#include <web/trust.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

// The body that came, or a greeting; "/slow" takes its time, "/large" is a megabyte.
task<http::response> answer(http::request& what) {
    if (what.path() == "/large") {
        co_return http::response{http::status::ok, "text/plain", std::string(1 << 20, 'x')};
    }
    if (what.path() == "/slow") static_cast<void>(co_await sleep_for(10s));
    io_result<std::string> body = co_await what.body.read_all(1 << 20);
    if (!body.ok()) co_return http::response{http::status::bad_request};
    std::string text = body.take();
    co_return http::response{http::status::ok, "text/plain",
                             text.empty() ? std::string(what.scheme()) : std::move(text)};
}

test::link_options bad_link() {
    test::link_options options;
    options.latency = 20ms;
    options.jitter = 15ms;
    options.loss = 0.05;
    options.bytes_per_second = 1'000'000;
    return options;
}

struct web_world {
    explicit web_world(const test::link_options& links = {}, web::server_options with = {})
        : options{std::move(with)} {
        options.steps = web::handshake_steps::on_loop;
        options.counters = &counts;
        world.set_links(links);
        serving = world.start(server, serve(stream_acceptor::listen(server.io(), where).take()));
    }

    task<> serve(stream_acceptor from) {
        ended = co_await web::serve_http(std::move(from), answer, options);
        done = true;
    }

    // Runs `visit` on the client's machine.
    template <class Visit>
    void run(const Visit& visit, duration limit = 1h) {
        auto outcome = world.run(client, visit(), limit);
        REQUIRE_MESSAGE(outcome.ok(), outcome.text());
        outcome.take();
    }

    void check_ended(duration limit) {
        const auto outcome = world.run_until([this] { return done; }, limit);
        CHECK_MESSAGE(outcome.ok(), outcome.text());
        CHECK_FALSE(ended.error());
    }

    web::server_options options;
    web::server_counters counts;
    io_result<> ended = errc::busy;
    bool done = false;

    // At its end what is pending is stopped, and uses what stands above.
    test::world world;
    test::machine& server = world.add("server");
    test::machine& client = world.add("client");
    endpoint where = server.at(8080);
    stop_handle serving;
};

// What `of` answers; the error if it does not.
task<io_result<std::string>> fetch(web::client& by, std::string of) {
    auto got = co_await by.get(of);
    if (!got.ok()) co_return got.error();
    const web::client_response response = got.take();
    io_result<std::string> text = co_await response.text();
    co_return text;
}

task<io_result<std::string>> post(web::client& by, std::string to, std::string text) {
    auto got = co_await by.post(to, "text/plain", std::move(text));
    if (!got.ok()) co_return got.error();
    const web::client_response response = got.take();
    io_result<std::string> back = co_await response.text();
    co_return back;
}

// Says `head`, then a byte a second until the server has had enough; returns how long that was.
task<> dribble(web_world& in, std::string_view head, duration& took) {
    auto connected = co_await stream_socket::connect(in.where);
    CHECK(connected.ok());
    if (!connected.ok()) co_return;
    stream_socket peer = connected.take();
    const time_point begun = in.client.io().now();
    static_cast<void>(co_await write_all(peer, bytes_of(head)));
    for (;;) {
        const io_result<std::size_t> put =
            co_await peer.write_some(bytes_of(std::string_view{"x"}));
        if (!put.ok()) break;
        static_cast<void>(co_await sleep_for(1s));
    }
    took = in.client.io().now() - begun;
}

// Of a client that speaks HTTP/2 by hand.
tls::context asking_for_http2() {
    tls::client_options asking;
    asking.system_authorities = false;
    asking.authorities = trust::get().root.certificate();
    asking.judged_at = certificate_day;
    asking.protocols = {"h2"};
    return tls::context::client(asking).take();
}

}  // namespace

TEST_CASE("web in a world: a site is found by name, and its bodies cross a link that loses") {
    for (const bool secure : {false, true}) {
        CAPTURE(secure);
        web_world in{bad_link(), secure ? over_tls() : web::server_options{}};
        const std::string base = secure ? "https://server:8080" : "http://server:8080";
        const auto visit = [&]() -> task<> {
            web::client web{trusting()};
            const io_result<std::string> greeting = co_await fetch(web, base + "/");
            CHECK(greeting.value() == (secure ? "https" : "http"));
            for (const std::size_t size : {1, 5000, 200'000}) {
                const std::string text(size, 'w');
                const io_result<std::string> back = co_await post(web, base + "/", text);
                CHECK(back.value() == text);
            }
            CHECK(web.counters().connections == 1);
        };
        in.run(visit);
        CHECK(in.counts.failed == 0);
        CHECK(in.counts.handshakes == (secure ? 1 : 0));
    }
}

TEST_CASE("web in a world: a connection that broke while it was idle costs a GET nothing") {
    web_world in{bad_link()};
    const auto visit = [&]() -> task<> {
        web::client web;
        const io_result<std::string> first = co_await fetch(web, "http://server:8080/");
        CHECK(first.ok());
        in.server.break_connections();
        const io_result<std::string> second = co_await fetch(web, "http://server:8080/");
        CHECK(second.value() == "http");
        CHECK(web.counters().connections == 2);
        CHECK(web.counters().repeated == 1);
    };
    in.run(visit);
}

TEST_CASE("web in a world: a break within a request is told, and the next one is answered") {
    web_world in{bad_link()};
    const auto visit = [&]() -> task<> {
        web::client_options options;
        options.total_time_max = 30s;
        web::client web{options};
        io_result<std::string> broken;
        const auto asks = [&]() -> task<> {
            broken = co_await post(web, "http://server:8080/slow", std::string(50'000, 'x'));
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(asks);
            static_cast<void>(co_await sleep_for(5s));
            in.server.break_connections();
        };
        co_await with_group(body);
        // A client that has said all it has to say is told nothing: it is its own limit that ends it.
        CHECK((broken.error() == errc::timed_out || broken.error() == errc::connection_reset));
        const io_result<std::string> next = co_await fetch(web, "http://server:8080/");
        CHECK(next.value() == "http");
    };
    in.run(visit);
}

TEST_CASE("web in a world: a partition ends requests by their limit, and heals") {
    web_world in;
    const auto visit = [&]() -> task<> {
        web::client_options options;
        options.total_time_max = 20s;
        web::client web{options};
        const io_result<std::string> before = co_await fetch(web, "http://server:8080/");
        CHECK(before.ok());
        in.world.partition(in.server, in.client);
        const time_point begun = in.world.now();
        const io_result<std::string> during = co_await fetch(web, "http://server:8080/");
        CHECK(during.error() == errc::timed_out);
        CHECK(in.world.now() - begun == 20s);
        in.world.heal(in.server, in.client);
        const io_result<std::string> after = co_await fetch(web, "http://server:8080/");
        CHECK(after.value() == "http");
    };
    in.run(visit);
}

TEST_CASE("web in a world: a hundred slow peers are ended by their limits, and nobody waits") {
    web_world in{bad_link()};
    constexpr std::size_t count = 100;
    std::vector<duration> took(count);
    duration longest{};
    const auto visit = [&]() -> task<> {
        const auto asks = [&]() -> task<> {
            web::client web;
            for (int each = 0; each < 60; ++each) {
                const time_point begun = in.world.now();
                const io_result<std::string> got = co_await fetch(web, "http://server:8080/");
                CHECK(got.ok());
                longest = std::max(longest, duration{in.world.now() - begun});
                static_cast<void>(co_await sleep_for(1s));
            }
        };
        const auto body = [&](task_group& group) -> task<> {
            for (std::size_t each = 0; each < count; ++each) {
                const std::string_view head =
                    each % 2 == 0 ? "GET / HTTP/1.1\r\nHost: h\r\nX: "
                                  : "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5000\r\n\r\n";
                group.spawn(dribble(in, head, took[each]));
            }
            group.spawn(asks);
            co_return;
        };
        co_await with_group(body);
    };
    in.run(visit);
    const http::connection_options& limits = in.options.connection;
    for (std::size_t each = 0; each < count; ++each) {
        CAPTURE(each);
        const duration limit = each % 2 == 0 ? limits.head_time_max : limits.body_silence_max;
        CHECK(took[each] > limit - 1s);
        CHECK(took[each] < limit + limits.linger_time_max + 3s);
    }
    CHECK(longest < 5s);
    CHECK(in.counts.timed_out == count / 2);
}

TEST_CASE("web in a world: a client that stops in the handshake costs its limit, and no more") {
    web_world in{{}, over_tls()};
    const auto visit = [&]() -> task<> {
        auto connected = co_await stream_socket::connect(in.where);
        stream_socket peer = connected.take();
        const time_point begun = in.world.now();
        static_cast<void>(
            co_await write_all(peer, bytes_of(std::string_view{"\x16\x03\x01\x02\x00\x01", 6})));
        std::string space(100, '\0');
        io_result<std::size_t> got;
        while (got.ok()) got = co_await peer.read_some(space);
        CHECK(in.world.now() - begun == in.options.tls.handshake_wait);
    };
    in.run(visit);
    CHECK(in.counts.handshakes_failed == 1);
}

TEST_CASE(
    "web in a world: a drain lets a handshake end that has begun, and waits a second for others") {
    test::link_options links;
    links.latency = 100ms;
    web_world in{links, over_tls()};
    const time_point begun = in.world.now();
    duration silent_took{};
    error silent_ended;
    error begun_ended;
    const auto waits = [&]() -> task<> {
        auto connected = co_await stream_socket::connect(in.where);
        stream_socket peer = connected.take();
        std::string space(100, '\0');
        const auto got = co_await peer.read_some(space);
        silent_ended = got.error();
        silent_took = in.world.now() - begun;
    };
    const auto shakes = [&]() -> task<> {
        auto connected = co_await stream_socket::connect(in.where);
        io_result<tls::stream> shaken =
            co_await tls::connect(connected.take(), trust::get().client, "server");
        CHECK(shaken.ok());
        tls::stream peer = shaken.take();
        std::string space(100, '\0');
        const auto got = co_await peer.read_some(space);
        begun_ended = got.error();
    };
    const auto visit = [&]() -> task<> {
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(waits);
            group.spawn(shakes);
            // A hello has come by now, and what the client answers to ours has not.
            static_cast<void>(co_await sleep_for(350ms));
            in.serving.request_drain();
            co_return;
        };
        co_await with_group(body);
    };
    in.run(visit);
    in.check_ended(1s);
    CHECK(silent_ended == errc::eof);
    CHECK(silent_took > 1s);
    CHECK(silent_took < 1s + 500ms);  // Its drain began after 350 ms, and the end takes 100.
    CHECK(begun_ended == errc::eof);
    CHECK(in.counts.handshakes == 1);
    CHECK(in.counts.handshakes_failed == 0);
}

TEST_CASE("web in a world: HTTP/2 over TLS ends in order when it is drained, stopped or left") {
    if (web::protocols_spoken().front() != "h2") return;
    const tls::context settings = asking_for_http2();
    for (const stop_level asked : {stop_level::none, stop_level::drain, stop_level::stop}) {
        web_world in{{}, over_tls()};
        const auto visit = [&]() -> task<> {
            auto connected = co_await stream_socket::connect(in.where);
            io_result<tls::stream> shaken =
                co_await tls::connect(connected.take(), settings, "server");
            CHECK(shaken.ok());
            tls::stream peer = shaken.take();
            // The preface and SETTINGS of nothing: RFC 9113, 3.4.
            const std::string hello =
                "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + std::string{"\0\0\0\4\0\0\0\0\0", 9};
            static_cast<void>(co_await write_all(peer, bytes_of(hello)));
            static_cast<void>(co_await sleep_for(1s));
            error ended;
            if (asked == stop_level::none) {
                const io_result<> finished = co_await peer.finish();
                ended = finished.ok() ? error{errc::eof} : finished.error();
            } else {
                if (asked == stop_level::drain) in.serving.request_drain();
                else in.serving.request_stop();
                std::string space(100, '\0');
                io_result<std::size_t> got;
                while (got.ok()) got = co_await peer.read_some(space);
                ended = got.error();
            }
            CAPTURE(asked);
            CHECK(ended == errc::eof);
        };
        in.run(visit);
    }
}

TEST_CASE("web in a world: HTTP/2 over TLS that is stopped while it writes ends in order") {
    if (web::protocols_spoken().front() != "h2") return;
    const tls::context settings = asking_for_http2();
    web_world in{{}, over_tls()};
    std::size_t came = 0;
    error ended;
    const auto visit = [&]() -> task<> {
        auto connected = co_await stream_socket::connect(in.where);
        io_result<tls::stream> shaken = co_await tls::connect(connected.take(), settings, "server");
        CHECK(shaken.ok());
        tls::stream peer = shaken.take();
        // Windows of 1 MiB for streams and the connection, then GET /large: RFC 9113, 6.
        const std::string asks =
            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" +
            std::string{"\0\0\6\4\0\0\0\0\0\0\4\0\x10\0\0", 15} +
            std::string{"\0\0\4\10\0\0\0\0\0\0\x10\0\0", 13} +
            std::string{"\0\0\x12\1\5\0\0\0\1\x82\x87\x44\6/large\x41\6server", 27};
        static_cast<void>(co_await write_all(peer, bytes_of(asks)));
        static_cast<void>(co_await sleep_for(1s));  // Whatever has room on the way is full.
        in.serving.request_stop();
        std::string space(1 << 16, '\0');
        io_result<std::size_t> got;
        while (got.ok()) {
            got = co_await peer.read_some(space);
            came += got.value();
        }
        ended = got.error();
    };
    in.run(visit);
    CHECK(ended == errc::eof);
    CHECK(came > 50'000);
    CHECK(came < 1'000'000);
}

TEST_CASE("web in a world: a drain lets requests end that have begun, and nothing else") {
    web_world in{bad_link()};
    const auto visit = [&]() -> task<> {
        web::client web;
        web::client other;
        const io_result<std::string> idle = co_await fetch(other, "http://server:8080/");
        CHECK(idle.ok());
        io_result<std::string> begun;
        const auto asks = [&]() -> task<> {
            begun = co_await fetch(web, "http://server:8080/slow");
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(asks);
            static_cast<void>(co_await sleep_for(2s));
            in.serving.request_drain();
            static_cast<void>(co_await sleep_for(2s));
            const io_result<std::string> late = co_await fetch(other, "http://server:8080/");
            CHECK(late.error() == errc::connection_refused);
        };
        co_await with_group(body);
        CHECK(begun.value() == "http");
    };
    in.run(visit);
    in.check_ended(10s);
}

TEST_CASE("web in a world: a drain waits no longer than its limit for peers that fell silent") {
    web_world in;
    const auto visit = [&]() -> task<> {
        auto connected = co_await stream_socket::connect(in.where);
        stream_socket peer = connected.take();
        static_cast<void>(co_await write_all(
            peer, bytes_of(std::string_view{
                      "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5000\r\n\r\nbegun"})));
        static_cast<void>(co_await sleep_for(1s));
        in.world.partition(in.server, in.client);
        in.serving.request_drain();
        const time_point begun = in.world.now();
        while (!in.done) static_cast<void>(co_await sleep_for(100ms));
        CHECK(in.world.now() - begun <= in.options.drain_time_max + 5s);
    };
    in.run(visit);
    CHECK_FALSE(in.ended.error());
}
