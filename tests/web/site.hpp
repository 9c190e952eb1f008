// SPDX-License-Identifier: BSL-1.0
//
// A server that tests talk to, on the loop that they run on, and a peer that says exactly what it is told to.
#pragma once

#include <gyre/io/acceptor.hpp>
#include <gyre/io/stream_socket.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <gyre/web/client.hpp>
#include <gyre/web/server.hpp>
#include <support/certificates.hpp>
#include <support/harness.hpp>

#include <array>
#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace gyre::testing {

/// A listener on a port of its own, and where it is.
struct listening_site {
    explicit listening_site(io_context& io) {
        io_result<tcp_acceptor> listening = tcp_acceptor::listen(io, {ipv4::loopback(), 0});
        REQUIRE(listening.ok());
        acceptor = listening.take();
        where = acceptor.local_endpoint().value();
    }

    [[nodiscard]] std::string url(std::string_view target, std::string_view scheme = "http") const {
        return std::string{scheme} + "://" + where.to_string() + std::string{target};
    }

    tcp_acceptor acceptor;
    endpoint where;
};

inline task<> note_serving(stream_acceptor from, http::handler handle, web::server_options options,
                           io_result<>& ended) {
    ended = co_await web::serve_http(std::move(from), std::move(handle), std::move(options));
}

/// Serves `handle` while `body(site)` runs; then stops the server.
template <class Body>
task<> with_site(io_context& io, http::handler handle, web::server_options options, Body body) {
    listening_site site{io};
    io_result<> ended{errc::busy};
    const auto both = [&](task_group& group) -> task<> {
        group.spawn(
            note_serving(std::move(site.acceptor), std::move(handle), std::move(options), ended));
        co_await body(site);
        group.request_stop();
    };
    co_await with_group(both);
    CHECK_FALSE(ended.error());
}

/// Everything that a peer sends until it ends.
inline task<std::string> read_to_end(stream_socket& from) {
    std::string all;
    std::array<char, 16 * 1024> space;
    for (;;) {
        const io_result<std::size_t> got = co_await with_timeout(
            std::chrono::seconds{20}, from.read_some(std::as_writable_bytes(std::span{space})));
        if (!got.ok()) {
            CHECK(got.error() == errc::eof);
            co_return all;
        }
        all.append(space.data(), got.value());
    }
}

/// What a server answers to `text` until it closes the connection.
inline task<std::string> converse(endpoint with, std::string text) {
    io_result<stream_socket> connected = co_await stream_socket::connect(with);
    REQUIRE(connected.ok());
    stream_socket peer = connected.take();
    const auto sent = co_await write_all(peer, bytes_of(text));
    REQUIRE(sent.ok());
    std::string all = co_await read_to_end(peer);
    co_return all;
}

/// The same of a GET with these fields, each with its line's end.
inline task<std::string> fetch_raw(endpoint from, std::string target, std::string fields = {}) {
    std::string answer =
        co_await converse(from, "GET " + target + " HTTP/1.1\r\nhost: localhost\r\n" + fields +
                                    "connection: close\r\n\r\n");
    co_return answer;
}

inline std::string head_of(const std::string& answer) {
    return answer.substr(0, answer.find("\r\n\r\n"));
}
inline std::string body_of(const std::string& answer) {
    const std::size_t end = answer.find("\r\n\r\n");
    return end == std::string::npos ? std::string{} : answer.substr(end + 4);
}
/// The number behind "HTTP/1.1 "; 0 if there is none.
inline int status_of_answer(const std::string& answer) {
    return answer.starts_with("HTTP/1.1 ") ? std::atoi(answer.c_str() + 9) : 0;
}
/// The value of a field of an answer; empty if it has none.
inline std::string field_of(const std::string& answer, std::string_view name) {
    const std::string head = head_of(answer) + "\r\n";
    const std::size_t at = head.find("\r\n" + std::string{name} + ": ");
    if (at == std::string::npos) return {};
    const std::size_t from = at + name.size() + 4;
    return head.substr(from, head.find("\r\n", from) - from);
}

/// The head that a client sends; empty if it leaves instead.
inline task<std::string> head_from(stream_socket& peer) {
    std::string all;
    std::array<char, 4096> space;
    while (all.find("\r\n\r\n") == std::string::npos) {
        const auto got = co_await peer.read_some(std::as_writable_bytes(std::span{space}));
        if (!got.ok()) co_return std::string{};
        all.append(space.data(), got.value());
    }
    co_return all;
}

/// The same, forgotten; false if it leaves.
inline task<bool> read_head(stream_socket& from) {
    const std::string head = co_await head_from(from);
    co_return !head.empty();
}

}  // namespace gyre::testing
