// SPDX-License-Identifier: BSL-1.0
//
// The one price of an auction: what most of what waits in a book can trade at.
//
// Of all limits of resting orders, and the reference price, those count at which most trades; of these,
// those that leave least over on one side. Where that is left of buyers at all of them, the highest is
// the price, and where it is left of sellers, the lowest: the market presses that way. Else it is the
// one nearest to the reference price, and of two the higher. README.md has the rules for readers, and
// where their like is used.
//
// The limits need not all be looked at. Filling from the best prices on finds the last level of each
// side that trades; whatever can be the price lies between these two.
#pragma once

#include <exchange/core/book.hpp>
#include <exchange/core/market.hpp>
#include <exchange/core/step.hpp>

#include <array>

namespace exchange {

/// What an auction would trade. Without a volume there is no price.
struct auction_price {
    price_ticks price;
    contracts_total volume;
    contracts_total surplus;  ///< What wants to trade at this price beyond the volume,
    order_side surplus_side;  ///< on this side; `buy` if it is nothing.

    bool operator==(const auction_price&) const = default;
};

/// Finds the price, in as many steps as its levels take. The book does not change meanwhile.
class auction_search {
public:
    void begin(const market& in, const book_memory& memory) noexcept;

    /// False if it takes another step.
    ///
    /// Cost:  a look for each level that would trade.
    [[nodiscard]] bool go_on(const market& in, const book_memory& memory, step_work& work) noexcept;

    /// What was found.
    [[nodiscard]] auction_price result(const market& in, const book_memory& memory) const noexcept;

private:
    /// How far one side was filled.
    struct progress {
        level_index next;      ///< The first level that is not filled, or none.
        contracts_total left;  ///< Of that.
        level_index last;      ///< That has traded.
    };

    [[nodiscard]] auction_price pressed(const market& in, const book_memory& memory,
                                        order_side side) const noexcept;
    [[nodiscard]] auction_price balanced(const market& in,
                                         const book_memory& memory) const noexcept;

    std::array<progress, 2> sides_{};
    contracts_total volume_ = 0;
};

}  // namespace exchange
