// SPDX-License-Identifier: BSL-1.0
//
// Connections across a network that delays, loses and breaks: in worlds, and on sockets of every backend.
#include <gyre/websocket/connection.hpp>

#include <gyre/io/acceptor.hpp>
#include <gyre/io/stream_socket.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/when_all.hpp>
#include <gyre/test/world.hpp>

#include <support/harness.hpp>
#include <websocket/bytes.hpp>
#include <websocket/ends.hpp>

#include <cstdint>
#include <string>
#include <utility>

using namespace gyre;
using namespace gyre::testing;
using namespace gyre::websocket;
using namespace std::chrono_literals;

namespace {

struct two_machines {
    explicit two_machines(const test::link_options& links = {}) { world.set_links(links); }

    test::world world;
    test::machine& server = world.add("server");
    test::machine& client = world.add("client");
    endpoint where = server.at(7000);
    stream_acceptor acceptor = stream_acceptor::listen(server.io(), where, {}).take();
};

std::string text_of_size(std::size_t size) {
    std::string made(size, ' ');
    for (std::size_t each = 0; each < size; ++each) {
        made[each] = static_cast<char>('a' + each * 7 % 26);
    }
    return made;
}

task<> echo_until_closed(connection& on, error& ended) {
    io_result<message> got = co_await on.receive();
    while (got.ok()) {
        const io_result<> sent = co_await on.send(got.value().kind, got.value().bytes);
        if (!sent.ok()) break;
        got = co_await on.receive();
    }
    ended = got.error();
    static_cast<void>(co_await on.close());
}

task<> serve_one(stream_acceptor& from, agreement agreed, error& ended) {
    auto accepted = co_await from.accept();
    CHECK(accepted.ok());
    if (!accepted.ok()) co_return;
    any_stream stream{accepted.take()};
    connection on{std::move(stream), role::server, std::move(agreed)};
    co_await echo_until_closed(on, ended);
}

// Each message there and back, one after the other.
task<> converse(connection& on, std::size_t rounds) {
    for (std::size_t each = 0; each < rounds; ++each) {
        const std::string text = text_of_size(each * 997 % 20'000);
        const io_result<> sent = co_await on.send_text(text);
        CHECK(sent.ok());
        const io_result<message> back = co_await on.receive();
        CHECK(back.ok());
        if (!back.ok()) co_return;
        CHECK(back.value().text() == text);
    }
    const io_result<> closed = co_await on.close();
    CHECK(closed.ok());
}

}  // namespace

TEST_CASE(
    "websocket in a world: messages arrive whole and in order over a link that loses packets") {
    test::link_options bad;
    bad.latency = 20ms;
    bad.jitter = 30ms;
    bad.loss = 0.02;
    bad.bytes_per_second = 10'000'000;
    for (const bool compressed : {false, true}) {
        two_machines in{bad};
        const agreement agreed = compressed ? deflated(true) : agreement{};
        error ended;
        in.world.start(in.server, serve_one(in.acceptor, agreed, ended));
        const auto talk = [&]() -> task<> {
            auto connected = co_await stream_socket::connect(in.where);
            CHECK(connected.ok());
            any_stream stream{connected.take()};
            connection on{std::move(stream), role::client, agreed};
            co_await converse(on, 50);
        };
        auto outcome = in.world.run(in.client, talk());
        CHECK_MESSAGE(outcome.ok(), outcome.text());
        const auto rest = in.world.run_until([&] { return bool{ended}; }, 1min);
        CHECK_MESSAGE(rest.ok(), rest.text());
        CHECK(ended == errc::eof);
    }
}

TEST_CASE("websocket in a world: a peer that is switched off is told apart from one that closes") {
    two_machines in;
    error ended;
    in.world.start(in.server, serve_one(in.acceptor, {}, ended));
    io_result<message> got;
    const auto talk = [&]() -> task<> {
        auto connected = co_await stream_socket::connect(in.where);
        any_stream stream{connected.take()};
        connection on{std::move(stream), role::client, {}};
        const auto break_it = [&]() -> task<> {
            static_cast<void>(co_await sleep_for(10s));
            in.server.break_connections();
        };
        const auto wait = [&]() -> task<> { got = co_await on.receive(); };
        co_await when_all(wait(), break_it());
        const io_result<> closed = co_await on.close();
        CHECK_FALSE(closed.ok());
    };
    auto outcome = in.world.run(in.client, talk());
    CHECK_MESSAGE(outcome.ok(), outcome.text());
    CHECK(got.error());
    CHECK(got.error() != errc::eof);
}

TEST_CASE("websocket in a world: a partition is noticed by silence, on both sides") {
    two_machines in;
    error ended;
    in.world.start(in.server, serve_one(in.acceptor, {}, ended));
    io_result<message> got;
    const time_point began = in.world.now();
    const auto talk = [&]() -> task<> {
        auto connected = co_await stream_socket::connect(in.where);
        any_stream stream{connected.take()};
        connection on{std::move(stream), role::client, {}};
        in.world.partition(in.server, in.client);
        got = co_await on.receive();
        static_cast<void>(co_await on.close());
    };
    auto outcome = in.world.run(in.client, talk());
    CHECK_MESSAGE(outcome.ok(), outcome.text());
    CHECK(got.error() == errc::timed_out);
    CHECK(in.world.now() - began < 2min);
    const auto rest = in.world.run_until([&] { return bool{ended}; }, 2min);
    CHECK_MESSAGE(rest.ok(), rest.text());
    CHECK(ended == errc::timed_out);
}

TEST_CASE("websocket: messages cross sockets of every backend") {
    on_every_backend([](io_context& io) -> task<> {
        for (const bool compressed : {false, true}) {
            const agreement agreed = compressed ? deflated(true) : agreement{};
            socket_pair sockets = connected_pair(io);
            any_stream near{std::move(sockets.client)};
            any_stream far{std::move(sockets.server)};
            connection client{std::move(near), role::client, agreed};
            connection server{std::move(far), role::server, agreed};
            error ended;
            co_await when_all(converse(client, 30), echo_until_closed(server, ended));
            CHECK(ended == errc::eof);
        }
    });
}
