// SPDX-License-Identifier: BSL-1.0
//
// A handler on sockets: the accept loop, TLS, and the protocol that each client speaks.
//
// `serve` bounds what runs, TLS and HTTP bound what each connection may take; this joins them, so that a
// program has a handler, some listeners and one record of limits. Handshakes are computed off the loop, and a
// drain ends within a limit.
#pragma once

#include <gyre/base/result.hpp>
#include <gyre/base/time.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/http/handler.hpp>
#include <gyre/http/serve_connection.hpp>
#include <gyre/io/acceptor.hpp>
#include <gyre/io/serve.hpp>
#include <gyre/runtime/io_pool.hpp>
#include <gyre/tls/context.hpp>
#include <gyre/tls/stream.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gyre::web {

/// What servers count beside `serve_counters`. Any thread may read, and several servers may share it.
struct server_counters {
    std::atomic<std::uint64_t> handshakes = 0;  ///< Of TLS, that ended well.
    /// Those that did not, time-outs included; not those of silent clients that were let go of before.
    std::atomic<std::uint64_t> handshakes_failed = 0;
    std::atomic<std::uint64_t> refused = 0;  ///< Messages that were malformed or too large.
    /// Connections of peers that were too slow with a head or with reading. One that is slow with a body is
    /// the handler's to count, whose read ends with it.
    std::atomic<std::uint64_t> timed_out = 0;
    std::atomic<std::uint64_t> failed =
        0;  ///< Connections that broke: resets, ends inside a message.
    std::atomic<std::uint64_t> threw = 0;  ///< Exceptions that left the handler.
};

/// Where a handshake's steps are computed.
enum class handshake_steps : std::uint8_t {
    on_workers,  ///< On the loop's worker threads: the loop goes on meanwhile.
    on_loop      ///< For a loop that has nothing else to do, and worlds.
};

/// How `serve_http` serves: intake, limits of its connections, TLS, and what is told of failures.
struct server_options {
    server_options() = default;  // No aggregate: see docs/guide/compilers.md.

    /// Bounds of connections, in all and of one peer, and what is told of them. At `connections_max`
    /// one connection of HTTP/1 is closed for each that comes: the one that has been waited for longest, for
    /// a request (0.1 s at least), or for a handshake or all of a head (1 s at least), so that peers which
    /// ask nothing keep none out that does. Of HTTP/2, only the limits of time apply.
    serve_options intake;

    /// What each connection may have and take. `scheme`, `peer` and `client` are set by the server.
    http::connection_options connection;

    /// TLS on each connection, if there is one; its ALPN decides about the protocol: see `protocols_spoken`.
    tls::context settings;
    tls::stream_options tls;  ///< Time-outs; `handshake_steps` of it is set by the server.
    handshake_steps steps = handshake_steps::on_workers;

    /// What a client whose certificate was verified is called in its requests (`http::request::client`).
    /// Empty: by the certificate's subject, as "CN=alice,O=Example". Called once for a connection, on its
    /// loop.
    std::function<std::string(const tls::certificate&)> client_name;

    /// After a drain, until connections that have not ended by then are stopped.
    duration drain_time_max = std::chrono::seconds{30};

    server_counters* counters = nullptr;  ///< Borrowed; may be null.

    /// Told of what a peer sent that was refused; on the connection's loop.
    std::function<void(http::refusal, const endpoint& peer)> on_refused;

    /// Told of a handshake that failed, and of the details that OpenSSL has; on the connection's loop.
    std::function<void(error, std::string_view details, const endpoint& peer)> on_handshake_failed;

    /// Told of an exception that left the handler, so that the client gets 500, or what an answer has given
    /// the connection to, such as the session of a WebSocket. On the connection's loop.
    std::function<void(const http::request&, exception_slot&)> on_exception;

    /// Told of how answers have ended: bytes, time, and whether the client was there. On the connection's
    /// loop.
    http::answer_listener on_answered;
};

/// The names for ALPN of what servers of this build speak, the preferred one first: for
/// `tls::common_options::protocols`.
[[nodiscard]] std::vector<std::string> protocols_spoken();

/// Serves `handle` to each client that connects.
///
/// @param  acceptor  Owned. TCP or Unix-domain, of one's own or inherited.
/// @param  handle    Owned. Not empty.
/// @param  options   Owned.
/// @return When intake has ended and every connection has: ok after a drain or stop.
///
/// Errors:        as `gyre::serve`.
/// Cancellation:  a drain ends intake; answers then say "Connection: close", connections between two
///                requests end at once and the others within `drain_time_max`. The first request of a
///                connection is waited for, as is the first byte of a handshake, one second at most; a
///                handshake that has begun may end. A stop ends everything.
/// Threads:       handlers on the caller's executor.
/// Cost:          of a connection, beside that of `serve`, `http::serve_connection` and TLS: one frame and a
///                system call for the peer's address.
[[nodiscard]] task<io_result<>> serve_http(stream_acceptor acceptor, http::handler handle,
                                           server_options options = {});

/// The same on several listeners, such as inherited ones; bounds are for each. The first that fails stops the
/// others.
[[nodiscard]] task<io_result<>> serve_http(std::vector<stream_acceptor> acceptors,
                                           http::handler handle, server_options options = {});

/// The same on each loop of a pool, with listeners as `listen_on_each` made them; bounds are divided as
/// `serve` of a pool does.
///
/// @param  pool    Borrowed.
/// @param  handle  Owned; called on all loops at the same time.
///
/// Errors, Cancellation: as above, and `io_pool::status`. Threads: handlers on the loops, as the callbacks.
/// Cost: a frame per loop.
[[nodiscard]] task<io_result<>> serve_http(io_pool& pool, std::vector<stream_acceptor> acceptors,
                                           http::handler handle, server_options options = {});

}  // namespace gyre::web
