// SPDX-License-Identifier: BSL-1.0
//
// Which order a level of a book speaks of: each has a price of its own, so that a subscriber who is told a
// level knows when its order was due.
#pragma once

#include <exchange/core/types.hpp>

#include <gyre/base/time.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace exchange::bench {

/// Prices come again once the order before is long gone.
class due_levels {
public:
    static constexpr price_ticks first_price = 1'000;
    static constexpr std::size_t prices = 4096;

    /// @return The price of the order of this number, which is due at `when`.
    [[nodiscard]] price_ticks note(std::uint64_t number, gyre::time_point when) noexcept {
        const auto place = static_cast<std::size_t>(number % prices);
        at_[place] = when;
        return first_price + static_cast<price_ticks>(place);
    }

    /// How long ago the order of this price was due; none if there was no such order.
    [[nodiscard]] std::optional<gyre::duration> since(price_ticks price,
                                                      gyre::time_point now) const noexcept {
        const price_ticks place = price - first_price;
        if (place < 0 || place >= static_cast<price_ticks>(prices)) return std::nullopt;
        const gyre::time_point due = at_[static_cast<std::size_t>(place)];
        if (due == gyre::time_point{}) return std::nullopt;
        return now - due;
    }

private:
    std::array<gyre::time_point, prices> at_{};
};

}  // namespace exchange::bench
