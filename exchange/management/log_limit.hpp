// SPDX-License-Identifier: BSL-1.0
//
// How often a log tells of what strangers cause: some times a second, and of the rest only their number.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

namespace exchange {

/// Threads:  One at a time.
/// Cost:     some arithmetic.
class log_limit {
public:
    using clock = std::chrono::steady_clock;

    /// @param  per_second_max  Events told in a second. At least 1.
    explicit log_limit(unsigned per_second_max) noexcept : per_second_max_{per_second_max} {}

    /// Is an event told that happens now?
    ///
    /// @param  now  Not before that of the last call.
    /// @return  How many were not told before it; nothing if this one is not told either.
    [[nodiscard]] std::optional<std::uint64_t> admit(clock::time_point now) noexcept {
        if (now >= next_second_) {
            next_second_ = now + std::chrono::seconds{1};
            told_ = 0;
        }
        if (told_ < per_second_max_) {
            ++told_;
            return std::exchange(untold_, 0);
        }
        ++untold_;
        return std::nullopt;
    }

private:
    unsigned per_second_max_;
    clock::time_point next_second_ = clock::time_point::min();
    unsigned told_ = 0;
    std::uint64_t untold_ = 0;
};

}  // namespace exchange
