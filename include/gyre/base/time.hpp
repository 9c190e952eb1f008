// SPDX-License-Identifier: BSL-1.0
//
// The one clock that deadlines are told in.
//
// It names the type only: *reading* a clock is the loop's business (coro/environment.hpp), so that
// a test can hand out a time of its own.
#pragma once

#include <chrono>

namespace gyre {

/// A span of time, in nanoseconds.
using duration = std::chrono::nanoseconds;
/// A moment of the steady clock, which no change of the date moves.
using time_point = std::chrono::time_point<std::chrono::steady_clock, duration>;

/// No deadline: later than every other.
inline constexpr time_point never = time_point::max();

/// `start + wait`, or `never` where the sum would overflow; a negative wait counts as none.
[[nodiscard]] constexpr time_point deadline_after(time_point start, duration wait) noexcept {
    if (wait <= duration::zero()) return start;
    if (start > never - wait) return never;  // This way round, no start overflows either.
    return start + wait;
}

/// What is left of `deadline` at `now`: none once it has passed, and `duration::max()` where the
/// difference would overflow. Either may be as far off as a time_point tells.
[[nodiscard]] constexpr duration time_left(time_point deadline, time_point now) noexcept {
    if (deadline <= now) return duration::zero();
    if (now < time_point{} && deadline > never + now.time_since_epoch()) return duration::max();
    return deadline - now;
}

}  // namespace gyre
