// SPDX-License-Identifier: BSL-1.0
//
// A number that one thread raises and any thread may read.
//
// Loops count what they do while others watch. With one writer that takes no atomic addition, only
// that no half-written number is ever seen.
#pragma once

#include <atomic>
#include <cstdint>

namespace gyre {

class single_writer_counter {
public:
    /// One thread only. Cost: a load and a store.
    void add(std::uint64_t amount = 1) noexcept {
        value_.store(value_.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
    }

    /// Any thread; slightly old.
    [[nodiscard]] std::uint64_t value() const noexcept {
        return value_.load(std::memory_order_relaxed);
    }

private:
    std::atomic<std::uint64_t> value_ = 0;
};

}  // namespace gyre
