// SPDX-License-Identifier: BSL-1.0
//
// Counting what has run, on one thread or on several, without measuring the counter.
//
// One number that all threads add to would travel between their cores with every item, and cost more
// than what the items are posted to measure.
#pragma once

#include <lab/kit/fail.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace lab {

/// What one thread has done; the same interface as below.
class tally {
public:
    void add() noexcept { ++count_; }
    [[nodiscard]] std::uint64_t sum() const noexcept { return count_; }

private:
    std::uint64_t count_ = 0;
};

/// What all threads of a session have done. Add on any of them, read while none is working.
class thread_tally {
public:
    void add() noexcept { ++counts_[place_of_this_thread()].value; }

    [[nodiscard]] std::uint64_t sum() const noexcept {
        std::uint64_t all = 0;
        for (const count& each : counts_) all += each.value;
        return all;
    }

private:
    static constexpr std::size_t threads_max = 64;

    struct alignas(64) count {
        std::uint64_t value = 0;
    };

    static std::size_t place_of_this_thread() noexcept {
        static constinit std::atomic<std::size_t> last = 0;
        static constinit thread_local std::size_t place = 0;  // 0: none so far.
        if (place == 0) {
            place = last.fetch_add(1, std::memory_order_relaxed) + 1;
            require(place < threads_max, "a run has too many threads to count for");
        }
        return place;
    }

    std::array<count, threads_max> counts_{};
};

}  // namespace lab
