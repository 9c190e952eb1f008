// SPDX-License-Identifier: BSL-1.0
//
// A stranger's program on gyre::http2: both ends of one connection, and two requests on it at once.
#include <gyre/gyre.hpp>
#include <gyre/http2/client_connection.hpp>
#include <gyre/http2/serve_connection.hpp>

#include <cstdio>
#include <string>
#include <utility>

namespace http = gyre::http;
namespace http2 = gyre::http2;

gyre::task<http::response> greet(http::request& what) {
    const auto name = co_await what.body.read_all(100);
    co_return http::response{http::status::ok, "text/plain", "hello, " + name.value()};
}

gyre::task<> serve(gyre::memory_stream client) {
    const http::handler handle{greet};
    const http2::connection_options options;
    const http2::connection_hooks hooks;
    gyre::any_stream stream{std::move(client)};
    static_cast<void>(co_await http2::serve_connection(std::move(stream), handle, options, hooks));
}

gyre::task<> ask(http2::client_connection& by, std::string name) {
    http::request what{http::method::post, "/"};
    what.set_authority("here");
    auto answered = co_await by.send(what, std::move(name));
    if (!answered.ok()) co_return;
    const auto text = co_await answered.value().body.read_all(100);
    std::printf("%u: %s\n", http::number_of(answered.value().status), text.value().c_str());
}

gyre::task<> visit(gyre::memory_stream server) {
    http2::client_connection connection{gyre::any_stream{std::move(server)}};
    const auto body = [&](gyre::task_group& group) -> gyre::task<> {
        group.spawn(connection.run());
        co_await gyre::when_all(ask(connection, "stranger"), ask(connection, "neighbour"));
        connection.close();
    };
    co_await gyre::with_group(body);
}

gyre::task<> both() {
    gyre::memory_pipe pipe{4096};
    co_await gyre::when_all(serve(std::move(pipe.first)), visit(std::move(pipe.second)));
}

int main() { gyre::run(both()); }
