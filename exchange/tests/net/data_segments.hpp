// SPDX-License-Identifier: BSL-1.0
//
// How often the other end of a connection has written, as the kernel of this end has seen it.
#pragma once

#include <cstdint>

namespace exchange::testing {

/// Segments with data that a TCP socket has received.
///
/// On loopback, with TCP_NODELAY and enough room on both sides, each write of less than a segment
/// (64 KiB there) is one: nothing waits to be joined by what follows, and nobody on the way joins any.
[[nodiscard]] std::uint64_t data_segments_received(int socket) noexcept;

}  // namespace exchange::testing
