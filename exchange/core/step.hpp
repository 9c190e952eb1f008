// SPDX-License-Identifier: BSL-1.0
//
// How much one step of a command may do before others of the program have their turn.
//
// A sweep of a full book tells millions of messages, and a fill-or-kill may look at as many orders: done
// in one go, each would hold the whole exchange for tens of milliseconds. So whatever loops over orders
// spends work, stops when it is spent, and goes on in the next step; partition.hpp tells how.
#pragma once

#include <cstdint>

namespace exchange {

class step_work {
public:
    /// @param  most  Above zero.
    explicit constexpr step_work(std::uint32_t most) noexcept : most_{most} {}

    void begin() noexcept { left_ = most_; }
    void spend(std::uint32_t work) noexcept { left_ -= work; }

    /// Asked before each piece of work, so that every step does at least one.
    [[nodiscard]] bool spent() const noexcept { return left_ <= 0; }

private:
    std::int64_t most_;
    std::int64_t left_ = 0;
};

// What things cost, in messages.
inline constexpr std::uint32_t work_of_look = 1;
inline constexpr std::uint32_t work_of_cancel = 4;
inline constexpr std::uint32_t work_of_trigger = 5;
inline constexpr std::uint32_t work_of_fill = 10;
inline constexpr std::uint32_t work_of_cross = 12;

}  // namespace exchange
