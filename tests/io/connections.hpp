// SPDX-License-Identifier: BSL-1.0
//
// Pairs of connected sockets and what tests of them have in common.
#pragma once

#include <gyre/io/acceptor.hpp>
#include <gyre/io/stream_socket.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/timeout.hpp>
#include <support/harness.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gyre::testing {

using bytes = std::vector<std::byte>;

// The session of a server that sends back what it is sent.
inline task<> echo(stream_socket peer) {
    std::array<std::byte, 256> space{};
    for (;;) {
        const io_result<std::size_t> got = co_await peer.read_some(space);
        if (!got.ok()) co_return;
        const io_result<std::size_t> sent =
            co_await write_all(peer, const_buffer{space}.first(got.value()));
        if (!sent.ok()) co_return;
    }
}

// A pattern without short periods, so that lost, doubled and swapped pieces all show.
inline bytes patterned(std::size_t size) {
    bytes made(size);
    std::uint32_t state = 1;
    for (std::byte& each : made) {
        state = state * 1664525U + 1013904223U;
        each = static_cast<std::byte>(state >> 24);
    }
    return made;
}

inline task<> note_read(stream_socket& from, mutable_buffer into, io_result<std::size_t>& outcome) {
    outcome = co_await from.read_some(into);
}

inline task<> note_write_all(stream_socket& to, const_buffer from,
                             io_result<std::size_t>& outcome) {
    outcome = co_await write_all(to, from);
}

// Writes until nothing more fits: until a write is given up that has brought nothing in.
inline task<> fill_up(stream_socket& to, const_buffer from) {
    bool full = false;
    while (!full) {
        const io_result<std::size_t> sent =
            co_await with_timeout(std::chrono::milliseconds{20}, write_all(to, from));
        full = sent.value() == 0;
    }
}

inline task<> note_wait(stream_socket& on, readiness what, io_result<>& outcome) {
    outcome = co_await on.wait(what);
}

// Everything up to the end of the stream or an error, which goes to `ended`.
inline task<bytes> read_all(stream_socket& from, error& ended) {
    bytes all;
    bytes space(16 * 1024);
    for (;;) {
        const io_result<std::size_t> got = co_await from.read_some(space);
        all.insert(all.end(), space.begin(),
                   space.begin() + static_cast<std::ptrdiff_t>(got.value()));
        ended = got.error();
        if (!got.ok()) co_return all;
    }
}

inline task<> note_all(stream_socket& from, bytes& all, error& ended) {
    all = co_await read_all(from, ended);
}

// A small buffer, so that the client's writes are soon stuck. The receiving side keeps its own: with a
// tiny window TCP would crawl.
inline void shrink(socket_pair& pair) {
    static_cast<void>(pair.client.set_option(send_buffer{{4096}}));
}

// Makes closing send a reset instead of an end.
inline void reset(stream_socket& it) {
    REQUIRE(it.set_option(reset_on_close{}).ok());
    static_cast<void>(it.close());
}

// An address of this machine without a listener.
inline endpoint closed_port(io_context& io) {
    tcp_acceptor taken = tcp_acceptor::listen(io, {ipv4::loopback(), 0}).take();
    return taken.local_endpoint().value();
}

inline bool is_gone(error it) { return it == errc::connection_reset || it == errc::broken_pipe; }

using pair_maker = socket_pair (*)(io_context&);

// Runs `body(io, pair)` on every backend, over TCP and over a Unix-domain socket.
template <class Body>
void on_every_connection(const Body& body) {
    for (const pair_maker make : {pair_maker{&connected_pair}, pair_maker{&local_pair}}) {
        const bool tcp = make == pair_maker{&connected_pair};
        INFO("over ", std::string{tcp ? "TCP" : "a Unix-domain socket"});
        const auto run = [&](io_context& io) -> task<> {
            socket_pair pair = make(io);
            co_await body(io, pair);
        };
        on_every_backend(run);
    }
}

}  // namespace gyre::testing
