// SPDX-License-Identifier: BSL-1.0
//
// A stream's bytes up to its end, as one text of a bounded size.
//
// Bodies, files, and what a program says are read so: whose end is their only mark. framed.hpp is for streams
// that hold many messages.
#pragma once

#include <gyre/base/buffer.hpp>
#include <gyre/base/error.hpp>
#include <gyre/base/result.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/stream/concepts.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

namespace gyre {

// Implementation: `From` is a stream, or a reference to one.
template <class From>
task<io_result<std::string>> read_to_end(From from, std::size_t bytes_max) {
    constexpr std::size_t size_first = 16 * 1024;
    constexpr std::size_t read_max = 256 * 1024;  // What a file may give on the spot.
    std::string all;
    // One byte beyond what is allowed, so that too much is told from just enough.
    const std::size_t size_max = std::min(bytes_max, all.max_size() - 1) + 1;
    for (std::size_t filled = 0;;) {
        if (filled == all.size()) all.resize(std::min(std::max(2 * filled, size_first), size_max));
        const auto room = std::as_writable_bytes(std::span{all}).subspan(filled);
        const io_result<std::size_t> got =
            co_await from.read_some(mutable_buffer{room.first(std::min(room.size(), read_max))});
        filled += got.value();
        const bool too_much = filled > bytes_max;
        if (got.ok() && !too_much) continue;
        all.resize(std::min(filled, bytes_max));
        if (got.error() == errc::eof) co_return io_result<std::string>{std::move(all)};
        const error failed = too_much ? error{errc::limit_exceeded, activity::read} : got.error();
        co_return io_result<std::string>{failed, std::move(all)};
    }
}

/// All bytes of `from` up to its end, as text; `bytes_of` makes bytes of it.
///
/// @param  from       Borrowed; one reader at a time.
/// @param  bytes_max  More is an error.
/// @return What came; with an error, what came before it.
///
/// Errors:        `errc::limit_exceeded`, with the first `bytes_max` bytes; those of `from.read_some`, but
///                `errc::eof`.
/// Cancellation:  `errc::canceled`, with what came.
/// Threads:       resumes on the caller's executor.
/// Cost:          one frame; at first 16 KiB of memory, then at most twice what has come.
template <read_stream From>
[[nodiscard]] task<io_result<std::string>> read_all(From& from, std::size_t bytes_max) {
    return read_to_end<From&>(from, bytes_max);
}

}  // namespace gyre
