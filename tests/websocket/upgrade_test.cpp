// SPDX-License-Identifier: BSL-1.0
//
// What gyre/websocket/upgrade.hpp promises: requests that become connections, however their bytes are split,
// and those that do not; and how a session ends.
#include <gyre/websocket/upgrade.hpp>

#include <gyre/http/serve_connection.hpp>
#include <gyre/io/acceptor.hpp>
#include <gyre/io/serve.hpp>
#include <gyre/io/stream_socket.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/when_all.hpp>
#include <gyre/test/world.hpp>
#include <gyre/websocket/open.hpp>

#include <http/fed_stream.hpp>
#include <support/harness.hpp>
#include <support/settle.hpp>
#include <support/transports.hpp>
#include <websocket/bytes.hpp>
#include <websocket/ends.hpp>

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

using namespace gyre;
using namespace gyre::testing;
using namespace gyre::websocket;
using namespace std::chrono_literals;

namespace {

constexpr std::string_view request_head =
    "GET /chat HTTP/1.1\r\nHost: server.example.com\r\nUpgrade: websocket\r\n"
    "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
    "Sec-WebSocket-Version: 13\r\n\r\n";

constexpr std::string_view switched =
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
    "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n";

std::string with(std::string_view head, const bytes& more) {
    return std::string{head}.append(text_of(const_buffer{more}));
}

task<> echo(connection& on) {
    io_result<message> got = co_await on.receive();
    while (got.ok()) {
        const io_result<> sent = co_await on.send(got.value().kind, got.value().bytes);
        if (!sent.ok()) break;
        got = co_await on.receive();
    }
}

task<http::response> answer(http::request& asked) {
    if (asked.path() != "/chat") co_return http::response{http::status::ok, "text/plain", "page"};
    upgrade_options options;
    options.handshake.deflate.emplace();
    options.handshake.subprotocols = {"chat"};
    options.closes_at_drain = asked.query() != "stays";
    co_return upgrade(asked, options, echo);
}

task<> serve_stream(any_stream stream, io_result<>& ended) {
    const http::handler handle{answer};
    const http::connection_options options;
    const http::connection_hooks hooks;
    ended = co_await http::serve_connection(std::move(stream), handle, options, hooks);
}

task<> talk(connection& by, int rounds) {
    for (int each = 0; each < rounds; ++each) {
        const std::string text(static_cast<std::size_t>(each * 97), 'x');
        const io_result<> sent = co_await by.send_text(text);
        CHECK(sent.ok());
        const io_result<message> back = co_await by.receive();
        CHECK(back.value().text() == text);
    }
    const io_result<> closed = co_await by.close();
    CHECK(closed.ok());
}

// What a client on the other end of a pipe sees.
task<> open_and_talk(any_stream stream, const open_options& options, std::string subprotocol) {
    open_answer answered;
    auto opened = co_await open(std::move(stream), "here", "/chat", options, &answered);
    CHECK(opened.ok());
    if (!opened.ok()) co_return;
    const std::unique_ptr<connection> by = opened.take();
    CHECK(answered.status == http::status::switching_protocols);
    CHECK(by->agreement().subprotocol == subprotocol);
    CHECK(by->agreement().deflate.has_value() == options.handshake.deflate.has_value());
    co_await talk(*by, 10);
}

}  // namespace

// RFC 6455, 1.3 and 4.2.2.
TEST_CASE("upgrade: a request, what came behind it and a close, at every split") {
    on_every_backend([](io_context&) -> task<> {
        bytes frames = client_frame(frame_opcode::text, "Hello");
        frames += client_frame(frame_opcode::close, close_payload(1000, "done"));
        const std::string all = with(request_head, frames);
        bytes expected_frames = server_frame(frame_opcode::text, "Hello");
        expected_frames += server_frame(frame_opcode::close, close_payload(1000));
        const std::string expected =
            std::string{switched}.append(date_of_tests).append("connection: upgrade\r\n\r\n") +
            with({}, expected_frames);
        for (std::size_t piece = 1; piece <= all.size(); ++piece) {
            traffic over;
            over.in = all;
            over.piece = piece;
            const io_result<> ended = co_await serve_traffic(over, answer);
            CAPTURE(piece);
            CHECK(ended.ok());
            CHECK(over.out == expected);
            CHECK(over.send_ended);
        }
    });
}

TEST_CASE("upgrade: what asks for something else is told so, and may ask again") {
    on_every_transport([](io_context&) -> task<> {
        struct row {
            std::string_view request;
            unsigned status;
        };
        constexpr std::array rows{
            row{"GET /chat HTTP/1.1\r\nHost: h\r\n\r\n", 426},
            row{"POST /chat HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n", 405},
            row{"GET /chat HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: upgrade\r\n"
                "Sec-WebSocket-Version: 12\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
                426},
            row{"GET /chat HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: upgrade\r\n"
                "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: short\r\n\r\n",
                400},
            row{"GET /chat HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: upgrade\r\n"
                "Origin: http://elsewhere\r\nSec-WebSocket-Version: 13\r\n"
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
                403}};
        for (const row& each : rows) {
            traffic over;
            over.in = std::string{each.request}.append("GET /page HTTP/1.1\r\nHost: h\r\n\r\n");
            static_cast<void>(co_await serve_traffic(over, answer));
            INFO(over.out);
            CHECK(over.out.starts_with("HTTP/1.1 " + std::to_string(each.status)));
            if (each.status == 426) {
                CHECK(over.out.find("Sec-WebSocket-Version: 13\r\n") != std::string::npos);
            }
            CHECK(over.out.ends_with("page"));
        }
    });
}

// RFC 9110, 7.8.
TEST_CASE("upgrade: in HTTP/1.0 there is none") {
    on_every_transport([](io_context&) -> task<> {
        traffic over;
        over.in = request_head;
        over.in.replace(over.in.find("1.1"), 3, "1.0");
        static_cast<void>(co_await serve_traffic(over, answer));
        CHECK(over.out.starts_with("HTTP/1.1 426 "));
    });
}

TEST_CASE("upgrade and open: both ends agree over a pipe of any size") {
    on_every_backend([](io_context&) -> task<> {
        open_options plain;
        open_options all;
        all.handshake.subprotocols = {"other", "chat"};
        all.handshake.deflate.emplace();
        for (const std::size_t capacity : {1, 2, 3, 7, 50, 1000, 100'000}) {
            for (const open_options* each : {&plain, &all}) {
                memory_pipe pipe{capacity};
                io_result<> ended;
                any_stream near{std::move(pipe.first)};
                any_stream far{std::move(pipe.second)};
                const std::string subprotocol = each->handshake.deflate ? "chat" : "";
                co_await when_all(serve_stream(std::move(far), ended),
                                  open_and_talk(std::move(near), *each, subprotocol));
                CHECK(ended.ok());
            }
        }
    });
}

namespace {

// A server in a world, and a client that is connected to it.
struct served_world {
    explicit served_world(const test::link_options& links = {}) { world.set_links(links); }

    test::world world;
    test::machine& server = world.add("server");
    test::machine& client = world.add("client");
    endpoint where = server.at(7000);
    stream_acceptor acceptor = stream_acceptor::listen(server.io(), where, {}).take();

    task<io_result<std::unique_ptr<connection>>> connect(const open_options& options,
                                                         std::string_view target = "/chat") {
        auto connected = co_await stream_socket::connect(where);
        if (!connected.ok()) co_return connected.error();
        auto opened = co_await open(any_stream{connected.take()}, "server", target, options);
        co_return opened;
    }
};

task<> serve_one(stream_socket peer) {
    io_result<> ended;
    co_await serve_stream(any_stream{std::move(peer)}, ended);
}

task<> serve_until_stopped(stream_acceptor& from, bool& done, io_result<>& how) {
    how = co_await serve(std::move(from), serve_one);
    done = true;
}

}  // namespace

TEST_CASE("upgrade in a world: messages over a link that loses packets, and one that is cut") {
    test::link_options bad;
    bad.latency = 20ms;
    bad.jitter = 30ms;
    bad.loss = 0.02;
    bool done = false;  // These outlive the world, whose coroutines write them.
    io_result<> how;
    served_world in{bad};
    in.world.start(in.server, serve_until_stopped(in.acceptor, done, how));
    open_options options;
    options.handshake.deflate.emplace();
    const auto visit = [&]() -> task<> {
        auto opened = co_await in.connect(options);
        CHECK(opened.ok());
        if (!opened.ok()) co_return;
        const std::unique_ptr<connection> by = opened.take();
        co_await talk(*by, 20);

        auto second = co_await in.connect(options);
        CHECK(second.ok());
        if (!second.ok()) co_return;
        const std::unique_ptr<connection> cut = second.take();
        in.server.break_connections();
        const io_result<message> got = co_await cut->receive();
        CHECK(got.error());
        CHECK(got.error() != errc::eof);
    };
    auto outcome = in.world.run(in.client, visit());
    CHECK_MESSAGE(outcome.ok(), outcome.text());
}

// RFC 6455, 7.4.1.
TEST_CASE("upgrade in a world: a drain tells peers that the server goes away") {
    bool done = false;  // These outlive the world, whose coroutines write them.
    io_result<> how;
    served_world in;
    auto serving = in.world.start(in.server, serve_until_stopped(in.acceptor, done, how));
    const auto visit = [&]() -> task<> {
        auto opened = co_await in.connect({});
        CHECK(opened.ok());
        if (!opened.ok()) co_return;
        const std::unique_ptr<connection> by = opened.take();
        const auto drain = [&]() -> task<> {
            static_cast<void>(co_await sleep_for(1s));
            serving.request_drain();
        };
        io_result<message> got;
        const auto wait = [&]() -> task<> { got = co_await by->receive(); };
        co_await when_all(wait(), drain());
        CHECK(got.error() == errc::eof);
        CHECK(by->peer_close().code == close_code::going_away);
        static_cast<void>(co_await by->close());
    };
    auto outcome = in.world.run(in.client, visit());
    CHECK_MESSAGE(outcome.ok(), outcome.text());
    const auto rest = in.world.run_until([&] { return done; }, 10s);
    CHECK_MESSAGE(rest.ok(), rest.text());
}

TEST_CASE("upgrade in a world: a session may live through a drain, up to the stop") {
    for (const bool is_stopped : {false, true}) {
        bool done = false;  // These outlive the world, whose coroutines write them.
        io_result<> how;
        served_world in;
        auto serving = in.world.start(in.server, serve_until_stopped(in.acceptor, done, how));
        const auto visit = [&]() -> task<> {
            auto opened = co_await in.connect({}, "/chat?stays");
            CHECK(opened.ok());
            if (!opened.ok()) co_return;
            const std::unique_ptr<connection> by = opened.take();
            serving.request_drain();
            static_cast<void>(co_await sleep_for(5s));
            const io_result<> sent = co_await by->send_text("still here");
            CHECK(sent.ok());
            const io_result<message> back = co_await by->receive();
            CHECK(back.value().text() == "still here");
            if (is_stopped) {
                serving.request_stop();
                const io_result<message> last = co_await by->receive();
                CHECK(last.error() == errc::eof);
                CHECK(by->peer_close().code == close_code::going_away);
            }
            static_cast<void>(co_await by->close());
        };
        auto outcome = in.world.run(in.client, visit());
        CHECK_MESSAGE(outcome.ok(), outcome.text());
        const auto rest = in.world.run_until([&] { return done; }, 10s);
        CHECK_MESSAGE(rest.ok(), rest.text());
    }
}

TEST_CASE("upgrade in a world: a stop does not wait for a peer that is silent") {
    bool done = false;  // These outlive the world, whose coroutines write them.
    io_result<> how;
    served_world in;
    auto serving = in.world.start(in.server, serve_until_stopped(in.acceptor, done, how));
    std::unique_ptr<connection> silent;
    const auto visit = [&]() -> task<> {
        auto opened = co_await in.connect({});
        CHECK(opened.ok());
        if (opened.ok()) silent = opened.take();
    };
    auto outcome = in.world.run(in.client, visit());
    CHECK_MESSAGE(outcome.ok(), outcome.text());
    const time_point began = in.world.now();
    serving.request_stop();
    const auto rest = in.world.run_until([&] { return done; }, 1min);
    CHECK_MESSAGE(rest.ok(), rest.text());
    CHECK(in.world.now() - began >= 5s);
    CHECK(in.world.now() - began <= 10s);
}
