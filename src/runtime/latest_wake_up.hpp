// SPDX-License-Identifier: BSL-1.0
//
// How long a backend of the kernel's may sleep in one go.
//
// Some builds hear of a signal only between system calls; a sleep without an end would keep it waiting.
#pragma once

#include <gyre/base/build.hpp>
#include <gyre/base/time.hpp>

#include <algorithm>
#include <chrono>

namespace gyre {

/// When a sleep in the kernel that is meant to last until `deadline` ends at the latest: sooner where a
/// signal that came just before it would be kept waiting for its end. Reading the clock after a sleep
/// is such a call as lets the signal through.
[[nodiscard]] inline time_point latest_wake_up(time_point deadline) noexcept {
    if constexpr (!signals_come_late) return deadline;
    constexpr duration deaf_max = std::chrono::milliseconds{20};
    return std::min(deadline, std::chrono::steady_clock::now() + deaf_max);
}

}  // namespace gyre
