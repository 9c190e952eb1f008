// SPDX-License-Identifier: BSL-1.0
//
// How often one side has written to a connection, as the kernel has seen it.
#pragma once

#include <cstdint>

namespace exchange::testing {

/// Segments with data that a TCP socket has sent, each once: where acknowledgements are slow, the kernel
/// sends the last one again on suspicion (RFC 8985, 7: tail loss probes), and so does a busy loopback.
///
/// On loopback, with TCP_NODELAY and enough room on both sides, each write of less than a segment
/// (64 KiB there) is one: nothing waits to be joined by what follows, and no device on the way
/// joins any.
[[nodiscard]] std::uint64_t data_segments_sent(int socket) noexcept;

}  // namespace exchange::testing
