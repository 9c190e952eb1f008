// SPDX-License-Identifier: BSL-1.0
//
// A client's WebSocket: the request for one over HTTP/1, and the connection that it becomes.
#pragma once

#include <gyre/base/result.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/http/client_connection.hpp>
#include <gyre/http/fields.hpp>
#include <gyre/http/status.hpp>
#include <gyre/stream/any_stream.hpp>
#include <gyre/websocket/connection.hpp>
#include <gyre/websocket/handshake.hpp>

#include <memory>
#include <string_view>

namespace gyre::websocket {

/// How a client asks.
struct open_options {
    open_options() = default;

    client_handshake_options handshake;
    connection_options connection;  ///< If `handshake.deflate` is set, that is how it compresses.
    http::client_options request;
    http::fields fields;  ///< Of the request, besides those of the handshake: cookies, credentials.
};

/// What a server has answered, for who wants to know why there is no connection.
struct open_answer {
    open_answer() noexcept = default;

    handshake_failure failure = handshake_failure::none;
    http::status status = http::status::ok;  ///< 101, if it has switched.
};

/// Asks for a WebSocket.
///
/// @param  on         Owned: a stream to the server, without a byte sent; over TLS for "wss".
/// @param  authority  Borrowed until completion: host, and the port unless it is the scheme's own.
/// @param  target     Borrowed until completion: path and query.
/// @param  options    Borrowed until completion.
/// @param  answered   Borrowed until completion; may be null.
///
/// Errors:        `errc::protocol_error` if the server did not agree: the message names its status;
///                `errc::invalid_argument` for a target or fields that cannot be sent; those of
///                `http::client_connection::send`. The stream is closed.
/// Cancellation:  `errc::canceled`; the stream is closed.
/// Threads:       resumes on the caller's executor.
/// Cost:          four frames; memory for the request and its answer, until it returns.
[[nodiscard]] task<io_result<std::unique_ptr<connection>>> open(any_stream on,
                                                                std::string_view authority,
                                                                std::string_view target,
                                                                const open_options& options = {},
                                                                open_answer* answered = nullptr);

}  // namespace gyre::websocket
