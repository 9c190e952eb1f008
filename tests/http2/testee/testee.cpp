// SPDX-License-Identifier: BSL-1.0
//
// The server that suites of conformance and adversaries talk to: prior knowledge over plain TCP.
//
//     http2_testee PORT
//
// Reads bodies; `GET /` is a few words, `POST /echo` what came, `GET /big` a body made while it is sent.
#include <gyre/gyre.hpp>
#include <gyre/http2/serve_connection.hpp>

#include <cstdio>
#include <string>
#include <utility>

namespace {

using namespace gyre;

constexpr std::size_t body_max = std::size_t{8} << 20;

task<io_result<>> write_big(http::body_writer to) {
    const std::string piece(10'000, 'x');
    for (int each = 0; each < 1'000; ++each) {
        const io_result<std::size_t> put = co_await write_all(to, bytes_of(piece));
        if (!put.ok()) co_return put.error();
    }
    co_return io_result<>{};
}

task<http::response> answer(http::request& what) {
    io_result<std::string> body = co_await what.body.read_all(body_max);
    if (!body.ok()) co_return http::response{http::status::content_too_large};
    if (what.path() == "/echo") {
        co_return http::response{http::status::ok, "application/octet-stream", body.take()};
    }
    if (what.path() == "/big") {
        co_return http::response{http::status::ok, "text/plain", http::produced_by(write_big)};
    }
    co_return http::response{http::status::ok, "text/plain", http::static_text{"Hello, world.\n"}};
}

// What each connection borrows.
struct server {
    http::handler handle = answer;
    http2::connection_options options;
    http2::connection_hooks hooks;
    http::date_cache date;
};

task<> serve_one(const server& by, stream_socket peer) {
    static_cast<void>(co_await http2::serve_connection(any_stream{std::move(peer)}, by.handle,
                                                       by.options, by.hooks));
}

task<io_result<>> serve_all(server& by, endpoint local) {
    auto listening = co_await tcp_acceptor::listen(local);
    if (!listening.ok()) co_return listening.error();
    const auto session = [&by](stream_socket peer) { return serve_one(by, std::move(peer)); };
    const auto ended = co_await serve(listening.take(), session);
    co_return ended;
}

}  // namespace

int main(int count, char** words) {
    const auto where = endpoint::parse("127.0.0.1:" + std::string{count == 2 ? words[1] : ""});
    if (!where.ok()) {
        std::fputs("usage: http2_testee PORT\n", stderr);
        return 2;
    }
    server by;
    by.options.body_bytes_max = body_max;
    by.hooks.date = &by.date;
    by.hooks.on_breach = [](http2::breach why) {
        std::fprintf(stderr, "breach: %s\n", http2::describe(why));
    };
    return run_until_signal(serve_all(by, where.value()));
}
