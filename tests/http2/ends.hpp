// SPDX-License-Identifier: BSL-1.0
//
// Both ends of a connection of HTTP/2 on a pipe in memory.
#pragma once

#include <gyre/http2/client_connection.hpp>
#include <gyre/http2/serve_connection.hpp>

#include <gyre/stream/memory_pipe.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gyre::testing {

[[nodiscard]] inline http::request request_of(std::string_view target,
                                              http::method by = http::method::get) {
    http::request made{by, target};
    made.set_authority("h");
    return made;
}

/// Looks once a millisecond, until `happened()`; what goes on meanwhile takes as long as it does.
[[nodiscard]] inline task<> come_true(std::function<bool()> happened) {
    while (!happened()) static_cast<void>(co_await sleep_for(std::chrono::milliseconds{1}));
}

/// Says what it was asked, its body and trailers included.
[[nodiscard]] inline task<http::response> echo(http::request& what) {
    std::string said{what.method_text()};
    said.append(" ").append(what.target());
    const io_result<std::string> body = co_await what.body.read_all(1'000'000);
    if (!body.ok()) said.append(" failed");
    else if (!body.value().empty()) said.append(" ").append(body.value());
    for (const http::field each : what.body.trailers()) {
        said.append(" ").append(each.name).append("=").append(each.value);
    }
    co_return http::response{http::status::ok, "text/plain", std::move(said)};
}

/// A client, and a server that begins with it.
class two_ends {
public:
    explicit two_ends(http::handler handle, std::size_t pipe_bytes = 64 * 1024,
                      http2::connection_options on_server = {},
                      http2::client_options on_client = {})
        : options{std::move(on_server)}, handle_{std::move(handle)} {
        memory_pipe pipe{pipe_bytes};
        client = http2::client_connection{any_stream{std::move(pipe.first)}, on_client};
        server_ = any_stream{std::move(pipe.second)};
        hooks.on_breach = [this](http2::breach why) { breached = why; };
    }

    /// Both run in `group`.
    void begin(task_group& group) {
        begin_server(group);
        begin_client(group);
    }
    void begin_server(task_group& group) { group.spawn(serve()); }
    void begin_client(task_group& group) { group.spawn(run()); }

    http2::client_connection client;
    http2::connection_options options;
    http2::connection_hooks hooks;
    io_result<> served = errc::busy;
    io_result<> ran = errc::busy;
    http2::breach breached = http2::breach::none;

private:
    [[nodiscard]] task<> serve() {
        served = co_await http2::serve_connection(std::move(server_), handle_, options, hooks);
    }
    [[nodiscard]] task<> run() { ran = co_await client.run(); }

    http::handler handle_;
    any_stream server_;
};

}  // namespace gyre::testing
