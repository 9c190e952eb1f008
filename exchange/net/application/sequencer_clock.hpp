// SPDX-License-Identifier: BSL-1.0
//
// What time it is for the core, which takes its word for it: it never goes back.
//
// The machine's clock is asked once. From there a steady clock counts, so that setting the host's
// clock in the middle of a day changes nothing. To follow it when it is set forward and to wait for
// it when it is set back was rejected: while the core's time stood still, accounts with a message
// rate could not speak.
#pragma once

#include <exchange/core/types.hpp>

namespace exchange {

/// Nanoseconds since 1970, of the machine's clock, which may be set.
[[nodiscard]] timestamp_ns wall_time() noexcept;

/// Nanoseconds since some moment, of a clock that only moves forward.
[[nodiscard]] timestamp_ns steady_time() noexcept;

/// Whom a sequencer asks.
struct time_sources {
    timestamp_ns (*wall)() noexcept = wall_time;      ///< Once, when it begins.
    timestamp_ns (*steady)() noexcept = steady_time;  ///< Whenever it wants the time.
};

/// Nanoseconds since 1970, as of the machine's clock at construction, and of a steady clock since.
class sequencer_clock {
public:
    explicit sequencer_clock(const time_sources& from) noexcept
        : steady_{from.steady}, begin_{from.wall()}, steady_begin_{from.steady()} {}

    [[nodiscard]] timestamp_ns now() const noexcept { return begin_ + (steady_() - steady_begin_); }

private:
    timestamp_ns (*steady_)() noexcept;
    timestamp_ns begin_;
    timestamp_ns steady_begin_;
};

}  // namespace exchange
