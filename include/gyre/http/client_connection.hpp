// SPDX-License-Identifier: BSL-1.0
//
// The client's side of one connection of HTTP/1: sends a request, reads the response, and is used again.
//
// It runs over any stream; which connection a request goes to, and whether it is sent again, is for a pool to
// say. A response whose body was not read to its end makes the connection useless, and nothing else does.
#pragma once

#include <gyre/base/result.hpp>
#include <gyre/base/time.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/http/body_reader.hpp>
#include <gyre/http/body_writer.hpp>
#include <gyre/http/chunk_decoder.hpp>
#include <gyre/http/head_parser.hpp>
#include <gyre/http/request.hpp>
#include <gyre/http/response.hpp>
#include <gyre/stream/any_stream.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace gyre::http {

/// What one connection to a server may take.
struct client_options {
    client_options() noexcept = default;

    head_limits head{64 * 1024, 8 * 1024, 200};
    chunk_limits chunks;
    std::uint64_t body_bytes_max = std::uint64_t{1}
                                   << 40;     ///< Of a response; bounded again by its reader.
    std::size_t read_bytes_first = 4 * 1024;  ///< Memory for reading, to begin with.
    std::size_t write_bytes_max = 64 * 1024;  ///< Of a request that is collected for one write.
    std::size_t interim_max = 16;             ///< Responses of 1xx before the final one.

    /// From the last byte of the request to the end of the response's head.
    duration response_time_max = std::chrono::seconds{60};
    duration body_silence_max = std::chrono::seconds{30};  ///< Between two pieces of a body.
    duration write_time_max = std::chrono::seconds{30};    ///< For the server to take anything.
    // Bytes count for these two, not pieces: those of a TLS record that is not whole, too, and those that
    // the peer takes of what was written before. Its silence is noticed an eighth later at most.

    /// Of bodies both ways, however the server spreads its reads and writes: it may be late by the two limits
    /// above, and by no more. 0: any rate, for streams of events may be slow.
    std::uint64_t bytes_per_second_min = 0;
    duration continue_time_max =
        std::chrono::seconds{1};  ///< For "100 Continue", before the body is sent without.
};

/// What a client gets: the head of a response, and its body as a stream.
class received_response {
public:
    received_response() noexcept = default;

    http::status status = http::status::ok;
    http::version version = http::version::http_1_1;
    http::fields fields;
    body_reader body;  ///< Of the connection: valid until its next request.
};

/// One connection to a server. Moves while nothing is pending on it; destroying it closes the stream.
class client_connection {
public:
    client_connection() noexcept;  ///< Closed.
    explicit client_connection(any_stream stream, client_options options = {});
    client_connection(client_connection&&) noexcept;
    client_connection& operator=(client_connection&&) noexcept;
    ~client_connection();

    /// Sends a request and reads the head of its response. Responses of 1xx are read over.
    ///
    /// The body leaves first, unless the server refuses it meanwhile: one that answers in step with it, with
    /// more than the network between holds, is waited for up to `write_time_max`. HTTP/2 does both at once.
    ///
    /// @param  what  Borrowed until completion. Its `authority` becomes Host.
    /// @param  body  Borrowed until completion; of a producer, until the response's body has been read.
    ///               A field `expect: 100-continue` in `what` makes a body wait for the server's word.
    /// @return The head; the body is read from the connection.
    ///
    /// Errors:        `errc::invalid_argument` for a request that cannot be sent, by its fields of Host and
    ///                framing too (`is_sendable` of serializer.hpp): nothing was; `errc::busy`
    ///                if the last response's body has not been read to its end; `errc::closed`;
    ///                `errc::connection_reset` if the server ended without an answer: see `answered`;
    ///                `errc::malformed`, `errc::limit_exceeded` for what came, a 101 without a field
    ///                Upgrade in `what` included; `errc::timed_out`; those of the stream and of the
    ///                body's producer. The connection is useless after all but the first two.
    /// Cancellation:  `errc::canceled`; the connection is useless.
    /// Threads:       resumes on the caller's executor; one request at a time.
    /// Cost:          three frames, one write and one read, if request and head are small.
    [[nodiscard]] task<io_result<received_response>> send(const request& what,
                                                          response_body body = {});

    /// Whether another request may be sent: nothing went wrong, the last response has been read to its end,
    /// and neither side has said that it was the last.
    [[nodiscard]] bool reusable() const noexcept;

    /// Looks whether the server has ended the connection since the last response, or has said something that
    /// no request has asked for and that the next one must not take for its answer. Then it is closed.
    ///
    /// @return Whether another request may be sent.
    ///
    /// Errors:        none: false.
    /// Cancellation:  ends the look; the next request meets the stop.
    /// Threads:       resumes on the caller's executor; in place of a request.
    /// Cost:          two frames, a read that waits for nothing, and a turn of the loop.
    // RFC 9112, 9.2.
    [[nodiscard]] task<bool> still_idle();

    /// Whether a byte of the last response has come. If not, a server that had closed an idle connection has
    /// not seen the request, and one that is idempotent may be sent again elsewhere.
    // RFC 9112, 9.3.1.
    [[nodiscard]] bool answered() const noexcept;

    /// Why the last response was refused, if it was.
    [[nodiscard]] refusal why() const noexcept;

    /// Gives the stream away after a response that changed the protocol: 101, or 2xx to CONNECT.
    /// @pre  there was such a response.
    [[nodiscard]] upgraded_connection take_stream() noexcept;

    /// Closes the stream.
    void close() noexcept;

private:
    class state;

    std::unique_ptr<state> state_;  // Null of a closed connection.
};

}  // namespace gyre::http
