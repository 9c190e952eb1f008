// SPDX-License-Identifier: BSL-1.0
//
// The client's side of one connection of HTTP/2: many requests at the same time.
//
// Unlike that of HTTP/1 it needs a coroutine of its own, `run`, which reads and writes for all requests; the
// owner of the connection keeps it in a group. Requests and responses are those of HTTP/1, but a response
// here owns its stream.
#pragma once

#include <gyre/base/result.hpp>
#include <gyre/base/time.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/http/client_connection.hpp>
#include <gyre/http/request.hpp>
#include <gyre/http/response.hpp>
#include <gyre/http2/breach.hpp>
#include <gyre/http2/limits.hpp>
#include <gyre/stream/any_stream.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace gyre::http2 {

/// What one connection to a server may take.
struct client_options {
    client_options() noexcept = default;

    flood_limits floods;
    window_limits windows;
    time_limits times;

    std::uint32_t streams_max = 100;  ///< At one time, if the server allows as many.
    std::size_t head_bytes_max =
        64 * 1024;  ///< Of a response; 32 bytes for each field beside its text.
    std::size_t fields_max = 200;
    std::uint64_t body_bytes_max = std::uint64_t{1}
                                   << 40;     ///< Of a response; bounded again by its reader.
    std::size_t read_bytes_max = 16 * 1024;   ///< Memory for reading, shared by all streams.
    std::size_t write_bytes_max = 64 * 1024;  ///< Frames that are gathered for one write.
    std::size_t body_write_bytes =
        16 * 1024;  ///< Of each producer, before it waits for the server.
    std::size_t engine_bytes_max = 1024 * 1024;  ///< As of a server's connection.
    std::size_t interim_max = 16;                ///< Responses of 1xx before the final one.

    /// From the last byte of the request to the end of the response's head.
    duration response_time_max = std::chrono::seconds{60};
    duration body_silence_max = std::chrono::seconds{30};  ///< Between two pieces of a body.
    duration continue_time_max =
        std::chrono::seconds{1};  ///< For "100 Continue", before the body is sent without.
    duration turn_time_max = duration::max();  ///< For a stream that the server allows, in turn.

    /// Called on the loop, within what reads and writes, when `streams_free` or `reusable` may have changed:
    /// for pools, which then wake requests. Must not throw, nor call or destroy the connection, but ask it.
    std::function<void()> on_change;
};

class client_connection;
class client_exchange;

/// What a client gets: as of HTTP/1, and the stream it comes on. Moves. Destroying
/// it before the body's end cancels the request (RST_STREAM CANCEL), and nothing else. A body that has come
/// whole can be read even when the connection is gone; of another, reads end with an error.
class received_response : public http::received_response {
public:
    received_response() noexcept;  ///< Of no request.
    received_response(received_response&& other) noexcept;
    received_response& operator=(received_response&& other) noexcept;
    ~received_response();

    /// Beside an error: whether the server has certainly not seen to the request, so that it may be sent
    /// again elsewhere, whatever its method. A producer that was asked for its body may not be.
    // RFC 9113, 8.7.
    bool unprocessed = false;

    /// Why the peer has reset the stream, if it has.
    error_code reset_by = error_code::none;

private:
    friend class client_connection;

    void let_go() noexcept;

    client_exchange* stream_ = nullptr;
    void* on_ = nullptr;  // The connection's state, which `stream_` tells the end of.
};

/// One connection to a server. Moves while neither `run` nor a request is pending on it. Belongs to a loop.
class client_connection {
public:
    client_connection() noexcept;  ///< Closed.
    /// Begins with the preface: prior knowledge, or ALPN "h2" of the TLS below.
    explicit client_connection(any_stream stream, client_options options = {});
    client_connection(client_connection&&) noexcept;
    client_connection& operator=(client_connection&&) noexcept;
    ~client_connection();

    /// Reads and writes for all requests until the connection ends: begun once, as a child of its owner.
    ///
    /// @return ok for an orderly end: `close`, GOAWAY (`goaway_code` tells why), idleness, a drain.
    ///
    /// Errors:        those of `error_for(breach)`; `errc::connection_reset`, `errc::timed_out`; those of the
    ///                stream. Pending requests end with the same.
    /// Cancellation:  a drain lets pending requests end, for at most `drain_max`, and begins no other; a
    ///                stop ends them: `errc::canceled`.
    /// Threads:       the connection's loop.
    /// Cost:          six frames for all requests, and one timer.
    [[nodiscard]] task<io_result<>> run();

    /// Sends a request and reads the head of its response. Responses of 1xx are read over. Any number may be
    /// pending; what the server allows no more of waits in turn.
    ///
    /// @param  what  Borrowed until completion. `scheme` is "http" unless it is set.
    /// @param  body  Owned. A producer is written while the response is read, until the response is gone.
    ///               A field `expect: 100-continue` in `what` makes a body wait for the server's word.
    /// @return The head, and the stream of the body.
    ///
    /// Errors:        `errc::invalid_argument` for a request that cannot be sent, as over HTTP/1;
    ///                `errc::closed` after GOAWAY, or the end; `errc::timed_out`; those of
    ///                `error_for(error_code)` for a stream that the server has reset;
    ///                `errc::limit_exceeded`, `errc::malformed` for what came; those of the connection.
    ///                `value().unprocessed` tells whether to send it again.
    /// Cancellation:  `errc::canceled`; the server is told (CANCEL), and other requests go on.
    /// Threads:       the connection's loop.
    /// Cost:          two frames, one more for a producer, and a record.
    [[nodiscard]] task<io_result<received_response>> send(const http::request& what,
                                                          http::response_body body = {});

    /// Whether another request may be sent: neither side has said that it ends, and nothing went wrong.
    [[nodiscard]] bool reusable() const noexcept;

    /// Requests that may be sent now without waiting for others: for pools.
    [[nodiscard]] std::size_t streams_free() const noexcept;

    /// True once the server's SETTINGS have come; until then `streams_free` is a guess.
    [[nodiscard]] bool settled() const noexcept;

    /// Why the connection was given up by our side, if it was.
    [[nodiscard]] breach why() const noexcept;

    /// Why the server has said GOAWAY; `error_code::none` if it has not, or had no reason.
    [[nodiscard]] error_code goaway_code() const noexcept;

    /// Begins no other request, says GOAWAY and lets `run` end once the pending ones have.
    void close() noexcept;

private:
    class state;
    friend class received_response;

    static void release(void* on, client_exchange& it) noexcept;

    std::unique_ptr<state> state_;  // Null of a closed connection.
};

}  // namespace gyre::http2
