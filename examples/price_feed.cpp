// SPDX-License-Identifier: BSL-1.0
//
// A feed over WebSocket whose client connects again whenever the connection is lost.
//
// Both are in this program, on two machines of a world whose network breaks twice; on real ones they are the
// same. docs/guide/websocket.md explains it.
#include <gyre/gyre.hpp>
#include <gyre/http/router.hpp>
#include <gyre/http/serve_connection.hpp>
#include <gyre/test/world.hpp>
#include <gyre/websocket/hub.hpp>
#include <gyre/websocket/open.hpp>
#include <gyre/websocket/upgrade.hpp>

#include <cstdio>
#include <string>
#include <utility>

using namespace std::chrono_literals;
namespace http = gyre::http;
namespace websocket = gyre::websocket;

namespace {

// snippet: feed
// The newest price of each symbol, however slowly a member reads.
websocket::hub_options newest_only() {
    websocket::hub_options made;
    made.messages_max = 100;
    made.when_full = websocket::slow_member::conflate;
    return made;
}

gyre::task<> publish(websocket::hub& all) {
    gyre::interval every{1s};
    for (int price = 100;; ++price) {
        const auto [stopped, due] = co_await every.tick();
        if (stopped) co_return;
        const std::string text = "north " + std::to_string(price);
        const auto made =
            websocket::prepared_message::make(websocket::message_kind::text, gyre::bytes_of(text));
        constexpr websocket::hub::key north = 1;
        const auto sent = co_await all.send(made.value(), north);
        if (!sent.ok()) co_return;
    }
}

// Members of a feed say nothing; their pings and closes are answered within a receive all the same.
gyre::task<> listen(websocket::connection& to) {
    for (;;) {
        const auto got = co_await to.receive();
        if (!got.ok()) co_return;
    }
}

gyre::task<> serve_member(websocket::hub& all, websocket::connection& peer) {
    static_cast<void>(co_await gyre::when_any(all.serve(peer), listen(peer)));
}

gyre::task<http::response> feed(websocket::hub& all, http::request& asked) {
    websocket::upgrade_options options;
    options.handshake.subprotocols = {"prices.v2", "prices.v1"};
    options.handshake.deflate = websocket::deflate_options{};
    options.connection.ping_interval = 5s;
    options.connection.pong_timeout = 5s;
    co_return websocket::upgrade(
        asked, options, [&all](websocket::connection& peer) { return serve_member(all, peer); });
}
// end of snippet

// snippet: client
struct follower {
    std::string server;
    int heard = 0;
    int connections = 0;
    gyre::backoff retry;
};

// One connection, until it is lost.
gyre::task<gyre::io_result<>> follow_once(follower& it) {
    auto connected = co_await gyre::connect_to(it.server, "80");
    if (!connected.ok()) co_return connected.error();
    gyre::any_stream stream{connected.take()};  // For "wss" of `tls::connect`, or of `web::client`.

    websocket::open_options options;
    options.handshake.subprotocols = {"prices.v2"};
    options.handshake.deflate = websocket::deflate_options{};
    options.connection.ping_interval = 5s;  // A server that is gone says nothing; so it is asked.
    options.connection.pong_timeout = 5s;
    websocket::open_answer answer;
    auto opened = co_await websocket::open(std::move(stream), it.server, "/feed", options, &answer);
    if (!opened.ok()) {
        std::fprintf(stderr, "no feed: %s\n", websocket::describe(answer.failure));
        co_return opened.error();
    }
    const auto peer = opened.take();
    ++it.connections;
    for (;;) {
        const auto got = co_await gyre::idle(peer->receive());  // A drain ends it.
        if (!got.ok()) {
            static_cast<void>(co_await gyre::shielded(peer->close(), 2s));
            co_return got.error();
        }
        ++it.heard;
        it.retry.reset();  // Not before: a server may accept, and close at once.
    }
}

gyre::task<> follow(follower& it) {
    for (;;) {
        const auto lost = co_await follow_once(it);
        if (lost.error() == gyre::errc::canceled) co_return;
        const auto waited = co_await it.retry.pause();
        if (!waited.ok()) co_return;
    }
}
// end of snippet

gyre::task<> serve_peer(gyre::tcp_socket peer, const http::handler& handle) {
    const http::connection_options options;
    const http::connection_hooks hooks;
    gyre::any_stream stream{std::move(peer)};
    static_cast<void>(co_await http::serve_connection(std::move(stream), handle, options, hooks));
}

gyre::task<gyre::io_result<>> price_server(gyre::endpoint local) {
    auto listening = co_await gyre::tcp_acceptor::listen(local);
    if (!listening.ok()) co_return listening.error();
    auto acceptor = listening.take();

    websocket::hub all{newest_only()};
    http::router routes;
    routes.add(http::method::get, "/feed", [&all](http::request& what) { return feed(all, what); });
    const http::handler handle = std::move(routes).build();
    const auto session = [&handle](gyre::tcp_socket peer) {
        return serve_peer(std::move(peer), handle);
    };
    const auto body = [&](gyre::task_group& group) -> gyre::task<gyre::io_result<>> {
        group.spawn(publish(all));
        const auto ended = co_await gyre::serve(std::move(acceptor), session);
        group.request_stop();
        co_return ended;
    };
    const auto ended = co_await gyre::with_group(body);
    co_return ended;
}

// A minute without the server, and later a restart of its network.
gyre::task<> trouble(gyre::test::world& world, gyre::test::machine& client,
                     gyre::test::machine& server) {
    static_cast<void>(co_await gyre::sleep_for(1min));
    world.partition(client, server);
    static_cast<void>(co_await gyre::sleep_for(1min));
    world.heal(client, server);
    static_cast<void>(co_await gyre::sleep_for(1min));
    server.break_connections();
    static_cast<void>(co_await gyre::sleep_for(1min));
}

}  // namespace

int main() {
    gyre::test::world world;
    gyre::test::machine& server = world.add("server");
    gyre::test::machine& client = world.add("client");
    world.start(server, price_server(server.at(80)));
    follower it;
    it.server = "server";
    gyre::stop_handle following = world.start(client, follow(it));
    auto outcome = world.run(client, trouble(world, client, server));
    following.request_stop();
    std::printf("%s%d prices by %d connections\n", outcome.text().c_str(), it.heard,
                it.connections);
    return outcome.ok() && it.connections == 3 && it.heard > 150 ? 0 : 1;
}
