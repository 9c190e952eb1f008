// SPDX-License-Identifier: BSL-1.0
//
// The server's side of one connection of HTTP/1: from bytes to a handler and back.
//
// It runs over any stream. Whatever a peer can make grow has a bound, whatever it can keep waiting has a
// limit of time, and requests that come together are answered by one write.
#pragma once

#include <gyre/base/build.hpp>
#include <gyre/base/exception.hpp>
#include <gyre/base/time.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/http/answer_end.hpp>
#include <gyre/http/chunk_decoder.hpp>
#include <gyre/http/handler.hpp>
#include <gyre/http/head_parser.hpp>
#include <gyre/http/http_date.hpp>
#include <gyre/http/message_pool.hpp>
#include <gyre/http/waiting_connections.hpp>
#include <gyre/stream/any_stream.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace gyre::http {

/// What one connection may have and take.
struct connection_options {
    connection_options() noexcept = default;

    head_limits head;
    chunk_limits chunks;

    /// Of a request's body. One that declares more is answered with 413; a read beyond ends with
    /// `errc::limit_exceeded`.
    std::uint64_t body_bytes_max = std::uint64_t{8} << 20;

    /// Of a body that the handler has not read: more is not waited for, the connection is closed.
    std::uint64_t dropped_bytes_max = std::uint64_t{64} << 10;

    std::size_t read_bytes_first = 4 * 1024;  ///< Memory for reading, until a head needs more.
    std::size_t write_bytes_max = 64 * 1024;  ///< Answers and pieces collected for one write.

    /// Requests on one connection; the last one's answer closes it.
    std::uint64_t requests_max = 1'000'000;

    /// From the first byte of a head, or the connection's beginning, to the head's end.
    duration head_time_max = std::chrono::seconds{15};
    duration idle_time_max = std::chrono::seconds{60};     ///< Between two requests.
    duration body_silence_max = std::chrono::seconds{30};  ///< Between two pieces of a body.
    duration write_time_max = std::chrono::seconds{30};    ///< For the peer to take anything.
    // Bytes count for these two, not pieces: those of a TLS record that is not whole, too, and those that
    // the peer takes of what was written before. Its silence is noticed an eighth later at most.

    /// Of bodies, and of what the peer takes, however it spreads its bytes: it may be late by the limits
    /// above, and by no more. 0: any rate. Only time spent waiting for the peer counts.
    std::uint64_t bytes_per_second_min = 240;

    /// After the last answer, until the peer ends as well: closing at once can destroy that answer. What the
    /// peer still sends is dropped meanwhile, however much it is. At other ends, until the stream has sent
    /// what it keeps back, such as TLS: the peer is not waited for.
    duration linger_time_max = std::chrono::seconds{2};

    /// True if a peer that ends its direction after a request still waits for the answer, as `nc -N` does.
    /// Else it has left, as a browser that was closed: a handler or a producer that waits is stopped. A
    /// peer that has left is noticed then by a reset, or by what is written to it, only.
    bool half_close = false;

    std::string scheme = "http";  ///< What requests say, unless their target does.
    std::string peer;             ///< The peer's address, as text, for requests.
    std::string client;           ///< Who the peer has proved to be, as text, for requests.
};

/// What the owner of connections wants to know, or to do itself.
struct connection_hooks {
    connection_hooks() noexcept = default;

    /// The date for answers, shared by the loop's connections. Borrowed; may be null.
    date_cache* date = nullptr;

    /// What messages need, shared by them as well. Borrowed; null: each connection has its own, and keeps it.
    message_pool* messages = nullptr;

    /// Where it stands while it waits for a request, so that it can make room. Borrowed; may be null.
    waiting_connections::place* place = nullptr;

    /// Told of what a peer sent that was refused.
    std::function<void(refusal)> on_refused;

    /// Told of an exception that left a handler, so that the peer gets 500; a body's producer, which ends the
    /// connection; or what an answer has given the connection to (`response::upgrade`), which ends it as
    /// well, and goes on to the caller unless it was taken.
    std::function<void(const request&, exception_slot&)> on_exception;

    /// Told of how answers have ended, an upgrade's with its head.
    answer_listener on_answered;

    /// Asked when a body of known size is to be written by its producer, after the head has been: a task that
    /// sends exactly so many bytes some other way, as sendfile, or nothing.
    std::function<std::optional<task<io_result<>>>(body_producer&, std::uint64_t size)> send_body;
};

/// Answers the requests of one connection until it ends.
///
/// @param  stream   Owned; closed at the end, its sending direction first: over TLS the peer reads an end
///                  (close_notify), and no cut, unless reading or writing has failed, a body's producer
///                  has, or an answer without a length was stopped.
/// @param  handle   Borrowed until the end. Not empty.
/// @param  options  Borrowed until the end.
/// @param  hooks    Borrowed until the end.
/// @return ok if the connection came to an orderly end: the peer's between two requests, "close" of either
///         side, an upgrade that has run, a drain.
///
/// Errors:        `errc::malformed` or `errc::limit_exceeded` for what was refused (the peer was answered,
///                and `hooks.on_refused` told); `errc::timed_out`; `errc::connection_reset` for a peer that
///                ended inside of a message; `errc::broken_promise` for a body's producer that threw; those
///                of the stream.
/// Cancellation:  a drain ends the wait for a next request, and closes after the answer to a present one; a
///                first request is still waited for, one second at most. A stop ends everything:
///                `errc::canceled`. Of TLS, a drain leaves `linger_time_max` for what has been written to
///                leave, and a stop 0.1 s.
/// Threads:       the caller's executor; handlers too.
/// Cost:          for the connection two frames and two buffers, and while a message is under way, a parser
///                and the like, of `hooks.messages`; for a request whose head and
///                answer are small, the handler's frame. One read and one write, a frame each, for
///                requests that came together. Answers do not wait for a handler that waits: they are
///                written beside it.
[[nodiscard]] task<io_result<>> serve_connection(
    any_stream stream, const handler& handle GYRE_LIFETIMEBOUND,
    const connection_options& options GYRE_LIFETIMEBOUND,
    const connection_hooks& hooks GYRE_LIFETIMEBOUND);

}  // namespace gyre::http
