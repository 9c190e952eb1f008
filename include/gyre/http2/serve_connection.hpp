// SPDX-License-Identifier: BSL-1.0
//
// The server's side of one connection of HTTP/2: each stream is a task that runs the handler.
//
// The handlers are those of HTTP/1 (http/handler.hpp), and so are requests and responses. Windows are given
// back as handlers read, so what a connection holds of bodies is at most its window, however slow they are.
#pragma once

#include <gyre/base/build.hpp>
#include <gyre/base/exception.hpp>
#include <gyre/base/time.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/http/answer_end.hpp>
#include <gyre/http/handler.hpp>
#include <gyre/http/http_date.hpp>
#include <gyre/http2/breach.hpp>
#include <gyre/http2/limits.hpp>
#include <gyre/stream/any_stream.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace gyre::http2 {

/// What one connection may have and take.
struct connection_options {
    connection_options() noexcept = default;

    flood_limits floods;
    window_limits windows;
    time_limits times;

    std::uint32_t streams_max = 128;  ///< That the peer may have open, and tasks at one time.

    /// Of a request's fields, as RFC 9113 counts: 32 bytes each beside name and value. One with more is
    /// answered with 431; far more is a breach. Trailers have the same bound.
    std::size_t head_bytes_max = 64 * 1024;
    std::size_t fields_max = 100;

    /// Of a request's body. One that declares more is answered with 413; a read beyond ends with
    /// `errc::limit_exceeded`.
    std::uint64_t body_bytes_max = std::uint64_t{8} << 20;

    /// Of a body that the handler has not read: what is more is reset, with NO_ERROR.
    std::uint64_t dropped_bytes_max = std::uint64_t{64} << 10;

    std::size_t read_bytes_max = 16 * 1024;    ///< Memory for reading, shared by all streams.
    std::size_t write_bytes_max = 64 * 1024;   ///< Frames that are gathered for one write.
    std::size_t body_write_bytes = 16 * 1024;  ///< Of each producer, before it waits for the peer.

    /// Of the engine: tables of HPACK, open streams and frames that wait; without bodies.
    std::size_t engine_bytes_max = 1024 * 1024;

    /// Requests on one connection; after the last one GOAWAY is sent.
    std::uint64_t requests_max = 1'000'000;

    duration body_silence_max = std::chrono::seconds{30};  ///< Between two pieces of a body.

    std::string scheme = "http";  ///< What requests say; what the peer says must be http or https.
    std::string peer;             ///< The peer's address, as text, for requests.
    std::string client;           ///< Who the peer has proved to be, as text, for requests.
};

/// What the owner of connections wants to know.
struct connection_hooks {
    connection_hooks() noexcept = default;

    /// The date for answers, shared by the loop's connections. Borrowed; may be null.
    http::date_cache* date = nullptr;

    /// Told why the connection is given up.
    std::function<void(breach)> on_breach;

    /// Told of an exception that left a handler; the peer gets 500, or a reset if an answer has begun.
    std::function<void(const http::request&, exception_slot&)> on_exception;

    /// Told of how answers have ended.
    http::answer_listener on_answered;
};

/// Answers the requests of one connection until it ends. The peer begins with the preface (prior knowledge,
/// or ALPN "h2" of the TLS below).
///
/// A response's `upgrade` is answered with 500, since HTTP/2 has none. A stream that the peer has reset stops
/// its task: what the handler waits for ends with `errc::canceled`.
///
/// @param  stream   Owned; closed at the end, its sending direction first (over TLS, close_notify), unless
///                  writing has failed.
/// @param  handle   Borrowed until the end. Not empty.
/// @param  options  Borrowed until the end.
/// @param  hooks    Borrowed until the end.
/// @return ok if the connection came to an orderly end: the peer's without open streams, GOAWAY of either
///         side, idleness, a drain.
///
/// Errors:        those of `error_for(breach)`; `errc::connection_reset` for a peer that ended while
///                streams were open; `errc::timed_out` if it took nothing for too long; those of the stream.
/// Cancellation:  a drain says GOAWAY in two steps, lets open streams end for at most `drain_max`, and
///                closes; a stop ends everything: `errc::canceled`.
/// Threads:       the caller's executor; handlers too.
/// Cost:          for the connection six frames, one timer, the engine (some 20 KiB) and two buffers; for a
///                request two frames beside the handler's, and a record that is used again. Answers that are
///                ready together are written together.
[[nodiscard]] task<io_result<>> serve_connection(
    any_stream stream, const http::handler& handle GYRE_LIFETIMEBOUND,
    const connection_options& options GYRE_LIFETIMEBOUND,
    const connection_hooks& hooks GYRE_LIFETIMEBOUND);

}  // namespace gyre::http2
