// SPDX-License-Identifier: BSL-1.0
//
// A stranger's program on gyre::websocket: both ends of one, compressed.
#include <gyre/gyre.hpp>
#include <gyre/http/serve_connection.hpp>
#include <gyre/websocket/open.hpp>
#include <gyre/websocket/upgrade.hpp>

#include <cstdio>
#include <memory>
#include <string>
#include <utility>

namespace http = gyre::http;
namespace websocket = gyre::websocket;

gyre::task<> echo(websocket::connection& peer) {
    auto got = co_await peer.receive();
    while (got.ok()) {
        static_cast<void>(co_await peer.send(got.value().kind, got.value().bytes));
        got = co_await peer.receive();
    }
}

gyre::task<http::response> answer(http::request& asked) {
    websocket::upgrade_options options;
    options.handshake.deflate.emplace();
    co_return websocket::upgrade(asked, options, echo);
}

gyre::task<> serve(gyre::memory_stream client) {
    const http::handler handle{answer};
    const http::connection_options options;
    const http::connection_hooks hooks;
    gyre::any_stream stream{std::move(client)};
    static_cast<void>(co_await http::serve_connection(std::move(stream), handle, options, hooks));
}

gyre::task<> talk(gyre::memory_stream server) {
    websocket::open_options options;
    options.handshake.deflate.emplace();
    gyre::any_stream stream{std::move(server)};
    auto opened = co_await websocket::open(std::move(stream), "here", "/", options);
    if (!opened.ok()) co_return;
    const std::unique_ptr<websocket::connection> peer = opened.take();
    static_cast<void>(co_await peer->send_text(std::string(1000, 'x')));
    const auto back = co_await peer->receive();
    const auto closed = co_await peer->close();
    std::printf("%zu back, %s\n", back.value().bytes.size(), closed.ok() ? "closed" : "cut");
}

gyre::task<> both() {
    gyre::memory_pipe pipe{4096};
    co_await gyre::when_all(serve(std::move(pipe.first)), talk(std::move(pipe.second)));
}

int main() { gyre::run(both()); }
