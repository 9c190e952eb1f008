// SPDX-License-Identifier: BSL-1.0
//
// What a random trader does next: it enters, amends, cancels, lets stops wait and icebergs hide, and tries
// what must trade at once or never.
//
// Prices scatter around one in the middle, so that some orders meet and most rest; the number of resting
// orders has a bound, so a long run does not fill the book.
#pragma once

#include <exchange/bin/order_view.hpp>

#include <cstdint>
#include <random>
#include <variant>
#include <vector>

namespace exchange {

/// What prices and quantities a market takes.
struct traded_market {
    instrument_id instrument;
    price_ticks middle = 0;
    price_ticks step = 1;
    contracts lot = 1;
};

struct order_mix_options {
    std::vector<traded_market> markets{};  ///< At least one.
    std::size_t resting_max = 100;         ///< Of each trader; above it only cancels.
    std::uint32_t levels = 20;  ///< How far behind the middle an order is, in steps, at most.
    std::uint32_t overlap = 3;  ///< How far beyond, at most.
    contracts lots_max = 20;
};

using order_mix_command =
    std::variant<enter_order, enter_advanced_order, amend_order, cancel_order>;

/// Threads:  One at a time. The same seed and views make the same commands.
class order_mix {
public:
    order_mix(order_mix_options options, std::uint64_t seed)
        : options_{std::move(options)}, dice_{seed} {}

    /// The next command of a trader, which is to be its `number`th message.
    [[nodiscard]] order_mix_command next(const order_view& trader, client_sequence number);

private:
    [[nodiscard]] std::uint64_t below(std::uint64_t limit) { return dice_() % limit; }
    [[nodiscard]] const traded_market& market_of(instrument_id it) const noexcept;
    [[nodiscard]] price_ticks price_in(const traded_market& in, order_side side);
    [[nodiscard]] enter_order enter(client_sequence number, time_in_force tif);
    [[nodiscard]] enter_advanced_order enter_iceberg(client_sequence number);
    [[nodiscard]] enter_advanced_order enter_stop(client_sequence number);
    [[nodiscard]] amend_order amend(const own_order& it, client_sequence number);

    order_mix_options options_;
    std::mt19937_64 dice_;
};

}  // namespace exchange
