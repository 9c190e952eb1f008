// SPDX-License-Identifier: BSL-1.0
//
// What judges of HTTP/1 talk to: a server, and a client.
//
//     http_testee server 8080                   (on 127.0.0.1)
//     http_testee client http://127.0.0.1:8080/ (follows redirects, prints the body)
#include <gyre/gyre.hpp>
#include <gyre/http/client_connection.hpp>
#include <gyre/http/serve_connection.hpp>

#include <array>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

namespace {

using namespace gyre;

constexpr std::size_t redirects_max = 10;
constexpr std::size_t body_bytes_max = std::size_t{64} << 20;

// What is left of the request's body.
task<io_result<>> copy_body(http::body_reader from, http::body_writer to) {
    std::string space(std::size_t{16} * 1024, '\0');
    for (;;) {
        const io_result<std::size_t> got = co_await from.read_some(space);
        if (got.error() == errc::eof) co_return io_result<>{};
        if (!got.ok()) co_return got.error();
        const const_buffer piece = bytes_of(std::string_view{space}.substr(0, got.value()));
        const io_result<std::size_t> put = co_await write_all(to, piece);
        if (!put.ok()) co_return put.error();
    }
}

task<http::response> answer(http::request& what) {
    if (what.path() == "/echo") {
        auto write = [from = what.body](http::body_writer to) { return copy_body(from, to); };
        co_return http::response{http::status::ok, "application/octet-stream",
                                 http::produced_by(std::move(write), what.body.size())};
    }
    if (what.path() != "/") co_return http::response{http::status::not_found};
    std::array<std::byte, 4096> space;
    for (;;) {
        const io_result<std::size_t> got = co_await what.body.read_some(space);
        if (!got.ok()) break;
    }
    co_return http::response{http::status::ok, "text/plain", http::static_text{"hello\n"}};
}

// What all connections share.
struct site {
    site() { options.body_bytes_max = body_bytes_max; }

    http::handler handle = answer;
    http::connection_options options;
    http::date_cache date;
    http::message_pool messages;
    http::connection_hooks hooks;
};

task<> serve_one(stream_socket peer, const site& of) {
    static_cast<void>(co_await http::serve_connection(any_stream{std::move(peer)}, of.handle,
                                                      of.options, of.hooks));
}

task<io_result<>> serve_all(endpoint local) {
    auto listening = co_await tcp_acceptor::listen(local);
    if (!listening.ok()) co_return listening.error();
    site all;
    all.hooks.date = &all.date;
    all.hooks.messages = &all.messages;
    const auto session = [&all](stream_socket peer) { return serve_one(std::move(peer), all); };
    const auto ended = co_await serve(listening.take(), session);
    co_return ended;
}

// The parts of http://AUTHORITY/PATH.
struct location {
    std::string authority;
    std::string target;
};

location location_of(std::string_view url, const location& from) {
    constexpr std::string_view scheme = "http://";
    if (!url.starts_with(scheme)) return {from.authority, std::string{url}};
    url.remove_prefix(scheme.size());
    const std::size_t slash = std::min(url.find('/'), url.size());
    const std::string_view path = url.substr(slash);
    return {std::string{url.substr(0, slash)}, path.empty() ? "/" : std::string{path}};
}

task<io_result<>> print_body(http::body_reader body) {
    std::string space(std::size_t{16} * 1024, '\0');
    for (;;) {
        const io_result<std::size_t> got = co_await body.read_some(space);
        if (got.error() == errc::eof) co_return io_result<>{};
        if (!got.ok()) co_return got.error();
        std::fwrite(space.data(), 1, got.value(), stdout);
    }
}

task<io_result<>> fetch(std::string url) {
    location at = location_of(url, {});
    for (std::size_t redirects = 0; redirects <= redirects_max; ++redirects) {
        const auto where = endpoint::parse(at.authority);
        if (!where.ok()) co_return where.error();
        auto connected = co_await stream_socket::connect(where.value());
        if (!connected.ok()) co_return connected.error();
        http::client_connection peer{any_stream{connected.take()}};
        http::request what{http::method::get, at.target};
        what.set_authority(at.authority);
        io_result<http::received_response> got = co_await peer.send(what);
        if (!got.ok()) co_return got.error();
        const http::received_response received = got.take();
        const std::string_view onward = received.fields.value_or("location");
        if (http::number_of(received.status) / 100 == 3 && !onward.empty()) {
            at = location_of(onward, at);
            continue;
        }
        const io_result<> printed = co_await print_body(received.body);
        if (!printed.ok()) co_return printed;
        co_return received.status == http::status::ok ? error{} : error{errc::no_data};
    }
    co_return errc::limit_exceeded;
}

}  // namespace

int main(int count, char** arguments) {
    const std::string_view mode = count > 2 ? arguments[1] : "";
    if (mode == "client") return gyre::run_until_signal(fetch(arguments[2]));
    const std::string local = "127.0.0.1:" + std::string{count > 2 ? arguments[2] : ""};
    const auto where = gyre::endpoint::parse(local);
    if (!where.ok() || mode != "server") {
        std::fprintf(stderr, "usage: http_testee server PORT | client URL\n");
        return 2;
    }
    return gyre::run_until_signal(serve_all(where.value()));
}
