// SPDX-License-Identifier: BSL-1.0
//
// Many requests at the same time on one connection of HTTP/2, each answered, or given up, by itself.
//
// Both ends are in this program, on a pipe in memory; between machines the stream is a socket, or TLS that
// has agreed on "h2". docs/guide/http.md explains it.
#include <gyre/gyre.hpp>
#include <gyre/http2/client_connection.hpp>
#include <gyre/http2/serve_connection.hpp>

#include <chrono>
#include <cstdio>
#include <string>
#include <utility>

using namespace std::chrono_literals;
namespace http = gyre::http;
namespace http2 = gyre::http2;

namespace {

// snippet: http2_server
// A handler as of HTTP/1: it does not care by which version a request has come.
gyre::task<http::response> quote(http::request& what) {
    if (what.target() == "/north") static_cast<void>(co_await gyre::sleep_for(500ms));
    if (what.target() == "/west") {
        const auto slept = co_await gyre::sleep_for(1h);
        if (!slept.ok()) std::printf("west: no caller waits any more\n");
    }
    co_return http::response{http::status::ok, "text/plain", std::string{what.target()} + " 101"};
}

gyre::task<> serve(gyre::any_stream stream) {
    const http::handler handle = quote;
    http2::connection_options options;
    options.streams_max = 50;
    options.floods.resets = {20, 2};  // So many at once, and so many more each second.
    http2::connection_hooks hooks;
    hooks.on_breach = [](http2::breach why) { std::printf("ended: %s\n", describe(why)); };
    const auto ended = co_await http2::serve_connection(std::move(stream), handle, options, hooks);
    std::printf("server: %s\n", ended.ok() ? "an orderly end" : "an error");
}
// end of snippet

// snippet: http2_client
gyre::task<gyre::io_result<std::string>> ask(http2::client_connection& server, std::string target) {
    http::request what{http::method::get, target};
    what.set_authority("prices");
    auto [error, answer] = co_await server.send(what);
    if (error) co_return error;
    const auto body = co_await answer.body.read_all(1'000);
    co_return body;
}

gyre::task<> print(http2::client_connection& server, std::string target) {
    const auto price = co_await ask(server, target);
    std::printf("%s\n", price.ok() ? price.value().c_str() : "no price");
}

gyre::task<> talk(gyre::any_stream stream) {
    http2::client_connection server{std::move(stream)};
    const auto requests = [&server](gyre::task_group& group) -> gyre::task<> {
        // Reads and writes for all requests, until the connection ends.
        group.spawn(server.run());
        group.spawn(print(server, "/north"));
        co_await print(server, "/south");
        // Given up alone: the server is told, and the others go on.
        const auto price = co_await gyre::with_timeout(20ms, ask(server, "/west"));
        if (price.error() == gyre::errc::timed_out) std::printf("west: too slow\n");
        // Lets the others end, and begins no more.
        server.close();
    };
    co_await gyre::with_group(requests);
}
// end of snippet

gyre::task<> both_ends() {
    gyre::memory_pipe pipe{64 * 1024};
    co_await gyre::when_all(talk(gyre::any_stream{std::move(pipe.first)}),
                            serve(gyre::any_stream{std::move(pipe.second)}));
}

}  // namespace

int main() { gyre::run(both_ends()); }
