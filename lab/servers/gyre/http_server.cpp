// SPDX-License-Identifier: BSL-1.0
//
// The server of `http_server`: the library's own HTTP, as one uses it.
#include <lab/servers/gyre/server.hpp>
#include <lab/servers/web.hpp>

#include <gyre/http/serve_connection.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace {

using namespace gyre;

constexpr std::size_t body_bytes_max = 32;

task<http::response> answer(http::request& asked) {
    const std::string_view path = asked.path();
    if (path == "/text") {
        co_return http::response{http::status::ok, "text/plain", http::static_text{servers::hello}};
    }
    if (path == "/json") {
        const http::static_text text{servers::json_text()};
        co_return http::response{http::status::ok, "application/json", text};
    }
    if (path == "/sum") {
        const auto [a, b] = servers::numbers_of(asked.query());
        std::int64_t sum = a + b;
        if (asked.method() == http::method::post) {
            const auto body = co_await asked.body.read_all(body_bytes_max);
            sum += servers::number_of(body.value());
        }
        co_return http::response{http::status::ok, "text/plain", std::to_string(sum)};
    }
    co_return http::response{http::status::not_found};
}

const http::handler handle{answer};
const http::connection_options options;

task<> converse(tcp_socket peer, std::size_t) {
    thread_local http::date_cache date;
    thread_local http::message_pool messages;
    http::connection_hooks hooks;
    hooks.date = &date;
    hooks.messages = &messages;
    static_cast<void>(
        co_await http::serve_connection(any_stream{std::move(peer)}, handle, options, hooks));
}

}  // namespace

int servers::serve_http_server(const job& wanted) { return serve(wanted, converse); }
