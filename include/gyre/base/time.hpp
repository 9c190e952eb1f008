// SPDX-License-Identifier: BSL-1.0
//
// The one clock that deadlines are told in.
//
// It names the type only: *reading* a clock is the loop's business (coro/environment.hpp), so that
// tests and the simulator can hand out a time of their own.
#pragma once

#include <chrono>

namespace gyre {

using duration = std::chrono::nanoseconds;
using time_point = std::chrono::time_point<std::chrono::steady_clock, duration>;

/// No deadline: later than every other.
inline constexpr time_point never = time_point::max();

/// `start + wait`, or `never` where the sum would overflow; a negative wait counts as none.
[[nodiscard]] constexpr time_point deadline_after(time_point start, duration wait) noexcept {
    if (wait <= duration::zero()) return start;
    if (start > never - wait) return never;  // This way round, no start overflows either.
    return start + wait;
}

}  // namespace gyre
