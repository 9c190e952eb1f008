// SPDX-License-Identifier: BSL-1.0
//
// A stranger's program on gyre::http: a server and a client in one program.
#include <gyre/gyre.hpp>
#include <gyre/http/client_connection.hpp>
#include <gyre/http/serve_connection.hpp>

#include <cstdio>
#include <string>
#include <utility>

namespace http = gyre::http;

gyre::task<http::response> greet(http::request& what) {
    const auto name = co_await what.body.read_all(100);
    co_return http::response{http::status::ok, "text/plain", "hello, " + name.value()};
}

gyre::task<> serve(gyre::memory_stream client) {
    const http::handler handle{greet};
    const http::connection_options options;
    const http::connection_hooks hooks;
    gyre::any_stream stream{std::move(client)};
    static_cast<void>(co_await http::serve_connection(std::move(stream), handle, options, hooks));
}

gyre::task<> ask(gyre::memory_stream server) {
    http::client_connection connection{gyre::any_stream{std::move(server)}};
    http::request what{http::method::post, "/"};
    what.set_authority("here");
    auto answered = co_await connection.send(what, "stranger");
    if (!answered.ok()) co_return;
    const auto text = co_await answered.value().body.read_all(100);
    std::printf("%u: %s\n", http::number_of(answered.value().status), text.value().c_str());
}

gyre::task<> both() {
    gyre::memory_pipe pipe{4096};
    co_await gyre::when_all(serve(std::move(pipe.first)), ask(std::move(pipe.second)));
}

int main() { gyre::run(both()); }
