// SPDX-License-Identifier: BSL-1.0
//
// Where a version of HTTP beyond HTTP/1 is plugged in: the one place that knows whether this build has it.
//
// ALPN tells servers and clients what the peer speaks, and `protocols_spoken` (gyre/web/server.hpp) what is
// offered; nothing else in this layer depends on it.
#pragma once

#include <gyre/http/client_connection.hpp>
#include <gyre/http/serve_connection.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

namespace gyre::web {

/// Serves a connection whose ALPN says "h2"; as `http::serve_connection` otherwise.
[[nodiscard]] task<io_result<>> serve_multiplexed(any_stream stream, const http::handler& handle,
                                                  const http::connection_options& options,
                                                  const http::connection_hooks& hooks);

/// How a request has ended that shared its connection.
struct multiplexed_answer {
    multiplexed_answer() noexcept = default;

    http::received_response head;  ///< Valid while `stream` lives.
    std::shared_ptr<void> stream;  ///< Letting go of it before the body's end cancels the request.

    // Beside an error.
    bool unprocessed = false;  ///< The server has not seen to it: it may be sent again.
    bool refused = false;      ///< It had one stream too many.
    bool reset = false;        ///< The server has ended the stream, and not the connection.
};

/// A client's connection that many requests share. Destroyed after `run` has ended, or before it.
class multiplexed_connection {
public:
    multiplexed_connection() noexcept = default;
    multiplexed_connection(const multiplexed_connection&) = delete;
    multiplexed_connection& operator=(const multiplexed_connection&) = delete;
    virtual ~multiplexed_connection() = default;

    /// Reads and writes until the connection ends. Once.
    [[nodiscard]] virtual task<> run() = 0;

    /// As `http::client_connection::send`, any number at the same time.
    ///
    /// @param  keeps  What `body` borrows from; kept while the stream is.
    [[nodiscard]] virtual task<io_result<multiplexed_answer>> send(const http::request& what,
                                                                   http::response_body body,
                                                                   std::shared_ptr<void> keeps) = 0;

    /// Requests that may be sent now without waiting for others.
    [[nodiscard]] virtual std::size_t room() const noexcept = 0;

    /// Whether the server has said how many requests it takes.
    [[nodiscard]] virtual bool settled() const noexcept = 0;

    /// Whether other requests may be sent, now or later.
    [[nodiscard]] virtual bool reusable() const noexcept = 0;
};

/// The protocol that clients do not offer by ALPN since this build cannot speak it; empty if there is none.
[[nodiscard]] std::string_view unspoken_protocol() noexcept;

/// A connection of HTTP/2; null in a build that has none.
///
/// @param  on_change  Called on the loop when `room`, `settled` or `reusable` may have changed.
[[nodiscard]] std::unique_ptr<multiplexed_connection> make_multiplexed(
    any_stream stream, const http::client_options& options, std::size_t streams_max,
    std::function<void()> on_change);

}  // namespace gyre::web
