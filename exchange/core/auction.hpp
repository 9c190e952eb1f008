// SPDX-License-Identifier: BSL-1.0
//
// An uncross that is under way: whose, what becomes of the market behind it, and how far it has come.
//
// It finds the price (auction_price.hpp), trades order by order from the best of either side on, and
// then takes out what is left of orders at the market. Each of the three may take several steps. What
// ends an auction, a command or a timer, differs only in what comes behind.
#pragma once

#include <exchange/core/auction_price.hpp>
#include <exchange/core/slab.hpp>
#include <exchange/core/types.hpp>

#include <cstdint>

namespace exchange {

struct uncrossing {
    /// Where it looks for orders at the market, which are among the best of their side.
    struct position {
        std::uint8_t sides;  ///< How many are done: buyers come first.
        bool entered;        ///< Has the next one been looked at?
        order_index next;    ///< Of that.
    };

    std::uint16_t market;
    market_phase then;
    bool by_timer;  ///< Then other markets may follow.
    bool priced;    ///< Is `found` known?
    auction_price found;
    contracts_total left;  ///< Of its volume.
    position clearing;
};

}  // namespace exchange
