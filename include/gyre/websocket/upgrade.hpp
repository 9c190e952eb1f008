// SPDX-License-Identifier: BSL-1.0
//
// A request of HTTP/1 that becomes a WebSocket.
//
// A route's handler returns what `upgrade` makes of the request: an answer that says why not, or one that
// gives the connection to a session of the program's own. What happens at the session's end, at a drain and
// at a stop is the same for all of them, so it is done here.
#pragma once

#include <gyre/coro/task.hpp>
#include <gyre/http/request.hpp>
#include <gyre/http/response.hpp>
#include <gyre/websocket/connection.hpp>
#include <gyre/websocket/handshake.hpp>

#include <functional>

namespace gyre::websocket {

/// What a server does with a connection, until it returns. The connection is borrowed; copies of the
/// function serve other connections.
using session = std::function<task<>(connection&)>;

/// How requests become connections; one for all of a route.
struct upgrade_options {
    upgrade_options() = default;

    server_handshake_options handshake;
    connection_options connection;  ///< If `handshake.deflate` is set, that is how it compresses.

    /// False: a drain is left to the session, which learns of it from `this_task::stop_requested`, and may go
    /// on until the stop at the end of the server's grace.
    bool closes_at_drain = true;
};

/// Answers a request for a WebSocket. If it is one, the answer is 101, and `run` gets the connection when
/// that has been sent; otherwise it says what is wrong, as text and by its status.
///
///     task<http::response> chat(room& hall, const upgrade_options& options, http::request& asked) {
///         co_return upgrade(asked, options, [&](connection& peer) { return talk(hall, peer); });
///     }
///
/// When the session returns, the connection is closed with 1000, unless it is; during a drain with 1001. A
/// drain closes it with 1001, unless `closes_at_drain` is false; the session sees that as `errc::eof` from
/// its receive, once the peer has answered. A stop cancels the session, and then closes with 1001; it waits
/// for the peer no longer than `close_timeout`.
///
/// @param  asked    Borrowed until it returns.
/// @param  options  Copied, as far as they are needed.
/// @param  run      Moved into the answer.
/// Cost:   as `answer_handshake`; for the connection two frames more than the session's.
[[nodiscard]] http::response upgrade(const http::request& asked, const upgrade_options& options,
                                     session run);

}  // namespace gyre::websocket
