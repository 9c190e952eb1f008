// SPDX-License-Identifier: BSL-1.0
//
// Text for a reader who may not read: a terminal that was stopped, a pipe to a collector of logs that hangs.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <string_view>

namespace exchange {

/// Writes as much as the descriptor takes, and waits no longer for its reader than this. Files always take
/// it.
///
/// @param  patience  For each 4 KiB (PIPE_BUF).
/// @return How many bytes were taken. With no patience 4 KiB or less leave for a pipe as a whole or not at
///         all.
///
/// Errors:   less is taken. A reader that is gone raises SIGPIPE as ever: see `ignore_broken_pipes`.
/// Threads:  any. Others may write to the same pipe, also other processes: where the kernel can write into
///           it without waiting (RWF_NOWAIT: pipes since Linux 6.4, sockets). Elsewhere another writer may
///           take the last page between the look and the write, and then this one does wait for the reader.
/// Cost:     two system calls for 4 KiB; no allocation.
std::size_t write_within(std::chrono::milliseconds patience, int descriptor,
                         std::span<const std::byte> bytes) noexcept;
/// The same for text.
std::size_t write_within(std::chrono::milliseconds patience, int descriptor,
                         std::string_view text) noexcept;

/// Writes `head` and `text` as one line in one piece, or not at all: no reader is waited for. What is longer
/// than a pipe takes in one piece (PIPE_BUF, 4 KiB) is cut, and ends with "...".
///
/// @param  text  Without an end of line.
/// @return Was it taken?
///
/// Errors, threads and cost: as above.
bool write_line(int descriptor, std::string_view head, std::string_view text) noexcept;

/// A note on standard error, for which a reader that hangs is waited for 200 ms at most. Who misses it is
/// not told.
void note_on_error_output(std::string_view text) noexcept;

/// Who reads what a process says may go away, which is no reason for the process to end.
///
/// Threads:  once, at the start. Children that gyre::process starts do not inherit it.
void ignore_broken_pipes() noexcept;

}  // namespace exchange
