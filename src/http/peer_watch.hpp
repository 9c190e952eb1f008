// SPDX-License-Identifier: BSL-1.0
//
// Whether the peer of a connection of HTTP/1 is still there while something else is waited for.
//
// A stream says that its peer has left only to a coroutine that reads. A handler or a producer that waits
// does not, so the connection reads in its place, and keeps what comes for the next request.
#pragma once

#include <gyre/base/result.hpp>
#include <gyre/base/time.hpp>
#include <gyre/coro/task.hpp>
#include <http/connection_io.hpp>

#include <chrono>

namespace gyre::http {

/// What waits for less than this is not watched: most handlers end sooner, and would pay for a read that
/// has to be canceled.
inline constexpr duration watch_begins_after = std::chrono::milliseconds{20};

/// Reads on until the peer has left. Keeps what comes in `io.in`: at most what one read brings at first.
/// A body that is half read is left to its reader until it ends.
///
/// @param  io, body    Borrowed.
/// @param  half_close  True if a peer that ends its direction after a whole request still waits.
/// @return ok if there is nothing more to watch: there is no room for more requests, or the peer's direction
///         has ended and it still waits.
///
/// Errors:        `errc::connection_reset` if the peer has left.
/// Cancellation:  `errc::canceled`.
/// Threads:       the connection's loop.
/// Cost:          a timer; after `watch_begins_after`, a read that is pending.
[[nodiscard]] task<io_result<>> watch_peer(connection_io& io, framed_source& body, bool half_close);

}  // namespace gyre::http
