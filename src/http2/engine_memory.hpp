// SPDX-License-Identifier: BSL-1.0
//
// The memory of one HTTP/2 engine, with a bound.
//
// Tables of HPACK, streams and queued frames are allocated by nghttp2; here they are counted, so that what a
// peer can make it allocate ends at a number instead of at the machine's memory.
#pragma once

#include <cstddef>

namespace gyre::http2 {

/// Counts what is allocated through it, and refuses what would exceed its bound. Does not move.
class engine_memory {
public:
    explicit engine_memory(std::size_t bytes_max) noexcept : bytes_max_{bytes_max} {}
    engine_memory(const engine_memory&) = delete;
    engine_memory& operator=(const engine_memory&) = delete;

    // What nghttp2 calls, with the address of an `engine_memory`.

    [[nodiscard]] static void* allocate(std::size_t size, void* from) noexcept;
    [[nodiscard]] static void* allocate_zeros(std::size_t count, std::size_t size,
                                              void* from) noexcept;
    [[nodiscard]] static void* reallocate(void* memory, std::size_t size, void* from) noexcept;
    static void release(void* memory, void* from) noexcept;

    [[nodiscard]] std::size_t used() const noexcept { return used_; }
    [[nodiscard]] std::size_t used_most() const noexcept { return used_most_; }

private:
    [[nodiscard]] void* take(std::size_t size) noexcept;

    std::size_t bytes_max_;
    std::size_t used_ = 0;
    std::size_t used_most_ = 0;
};

}  // namespace gyre::http2
