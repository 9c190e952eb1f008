// SPDX-License-Identifier: BSL-1.0
//
// A deadline that a coroutine waits for.
//
// The record lives with its waiter; the loop keeps only a reference, in a heap that never looks at
// the clock by itself (src/runtime/timer_queue.hpp), so a test may tell it any time.
#pragma once

#include <gyre/base/time.hpp>

#include <cstdint>

namespace gyre {

/// Armed and disarmed through `loop`. Must be disarmed before it dies. Does not move while armed.
struct timer {
    using function = void (*)(timer&) noexcept;

    static constexpr std::uint32_t idle = UINT32_MAX;

    explicit timer(function f) noexcept : fired{f} {}

    // A copy is a new, idle timer that would do the same.
    timer(const timer& other) noexcept : fired{other.fired} {}
    timer& operator=(const timer&) = delete;

    [[nodiscard]] bool armed() const noexcept { return position != idle; }

    /// Called on the loop's thread when the deadline has passed, after which the timer is idle. Runs
    /// no user code inside the call: what becomes ready is posted.
    function fired;
    time_point deadline = never;    ///< When it is due; may lie later than its key in the heap.
    std::uint32_t position = idle;  ///< Where it stands in the heap.
};

}  // namespace gyre
