// SPDX-License-Identifier: BSL-1.0
//
// Which timers, and for how long: what the contenders of the suite `timers` must not differ in.
//
// The numbers only look random: every contender and every run gets the same ones. Making one takes
// about a nanosecond, which is little beside what is measured.
#pragma once

#include <lab/kit/fail.hpp>
#include <lab/kit/histogram.hpp>

#include <chrono>
#include <cstdint>
#include <optional>

namespace lab {

/// What a timer that must never fire is armed for.
inline constexpr std::chrono::hours far_away{1};

/// In `push_back` without pause, the loop is given a turn after so many: as many reads as a busy
/// loop finds at once.
inline constexpr std::uint64_t pushes_per_turn = 64;
inline constexpr std::chrono::milliseconds push_tick{10};

/// When pending timeouts have to be armed anew, because a session that pauses between its slices would
/// see some fire.
class freshness {
public:
    /// Whether a third of the timeout is over since this was last so; at first it is.
    [[nodiscard]] bool is_over(std::chrono::nanoseconds timeout) noexcept {
        const auto now = std::chrono::steady_clock::now();
        if (armed_ && now - *armed_ < timeout / 3) return false;
        armed_ = now;
        return true;
    }

private:
    std::optional<std::chrono::steady_clock::time_point> armed_;
};

/// A linear congruential generator (Knuth's MMIX constants); its upper half is used.
class random_numbers {
public:
    /// Evenly distributed, less than `bound`, which is below 2^32.
    [[nodiscard]] std::uint64_t below(std::uint64_t bound) noexcept {
        state_ = state_ * 6'364'136'223'846'793'005 + 1'442'695'040'888'963'407;
        return ((state_ >> 32) * bound) >> 32;
    }

    /// From `shortest` on, and less than `longest`, but for the two being the same.
    [[nodiscard]] std::chrono::nanoseconds between(std::chrono::nanoseconds shortest,
                                                   std::chrono::nanoseconds longest) noexcept {
        const auto span = static_cast<std::uint64_t>((longest - shortest).count());
        return shortest + std::chrono::nanoseconds{below(span)};
    }

private:
    std::uint64_t state_ = 2'011;
};

/// Takes note that a timer with this deadline has just fired. Fails if that was too early.
inline void record_lateness(histogram& lateness, std::chrono::steady_clock::time_point deadline) {
    const auto late = std::chrono::steady_clock::now() - deadline;
    require(late >= late.zero(), "timers: one fired too early");
    lateness.record(static_cast<std::uint64_t>(std::chrono::nanoseconds{late}.count()));
}

}  // namespace lab
