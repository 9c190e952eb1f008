// SPDX-License-Identifier: BSL-1.0
//
// When each event is due, whatever became of the ones before it.
//
// An open loop: were a message sent only once the last one was answered, a stall would be counted once
// and not for each message that was due meanwhile (coordinated omission). So latencies count from
// these moments, and a load that falls behind them says so.
#pragma once

#include <gyre/base/time.hpp>

#include <cstdint>

namespace exchange::bench {

/// Events at equal distances.
class arrival_schedule {
public:
    /// @param  rate_per_second  0: everything is due at once.
    arrival_schedule(gyre::time_point start, std::uint32_t rate_per_second) noexcept
        : start_{start}, rate_{rate_per_second} {}

    [[nodiscard]] bool bounded() const noexcept { return rate_ != 0; }

    /// When the trigger of event `number`, from 0 on, is due. Exact: no error adds up.
    [[nodiscard]] gyre::time_point due(std::uint64_t number) const noexcept {
        return bounded() ? start_ + after_halves(2 * number) : start_;
    }

    /// When what precedes the trigger is due: half a period earlier, so that it is over by then.
    [[nodiscard]] gyre::time_point before_due(std::uint64_t number) const noexcept {
        if (!bounded()) return start_;
        return number == 0 ? start_ - after_halves(1) : start_ + after_halves(2 * number - 1);
    }

private:
    [[nodiscard]] gyre::duration after_halves(std::uint64_t periods_halved) const noexcept {
        constexpr std::uint64_t half_second_ns = 500'000'000;
        const std::uint64_t whole = periods_halved / rate_;
        const std::uint64_t rest = periods_halved % rate_;
        return gyre::duration{static_cast<gyre::duration::rep>(whole * half_second_ns +
                                                               rest * half_second_ns / rate_)};
    }

    gyre::time_point start_;
    std::uint32_t rate_;
};

}  // namespace exchange::bench
