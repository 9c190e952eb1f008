// SPDX-License-Identifier: BSL-1.0
//
// What happens to an order: it trades, comes to rest, is changed, and leaves.
//
// Within a level the first in time is the first to trade; `next_maker` is where another allocation would
// choose otherwise. An iceberg's refill is a `book::add` after a fill; a stop is an order that waits
// beside the book until a trade makes it arrive.
#pragma once

#include <exchange/core/publisher.hpp>
#include <exchange/core/venue.hpp>

namespace exchange {

class matcher {
public:
    /// Both are borrowed and must outlive it.
    matcher(venue& where, publisher& out) noexcept : venue_{&where}, out_{&out} {}

    /// Could an order of this account be filled completely, now, within `limit`?
    [[nodiscard]] bool fillable(const market& in, const account& whose, const order& it,
                                price_ticks limit) const noexcept;

    /// A new order, complete and counted against all limits: trades what it can within `limit`, then
    /// rests or goes. There is room for it to rest, if it may.
    void arrive(order_index index, price_ticks limit) noexcept;

    /// Takes a resting order out.
    void cancel(order_index index, cancel_reason reason, client_sequence request) noexcept;

    /// Less of a resting order, which keeps its place. `open` is above zero.
    void shrink(order_index index, contracts open, client_sequence request) noexcept;

    /// A resting order moves to another price or to the end of its own, and trades on its way. There
    /// is room for it.
    void move(order_index index, price_ticks price, contracts open,
              client_sequence request) noexcept;

private:
    /// Trades until nothing is left, or nobody within `limit`, or it must give way to its own kind.
    void match(market& in, order_index index, price_ticks limit) noexcept;
    [[nodiscard]] order_index next_maker(const market& in, order_side side) const noexcept;
    void execute(market& in, order& taker, order_index maker) noexcept;
    void avoid(market& in, order& taker, order_index maker) noexcept;
    void decrement(market& in, order& taker, order_index maker) noexcept;
    void cancel_aggressor(const market& in, order& taker, contracts gone,
                          cancel_reason reason) noexcept;
    void forget(order_index index) noexcept;

    [[nodiscard]] account& account_of(const order& it) noexcept {
        return venue_->accounts[number(venue_->holdings[it.holding].account)];
    }
    [[nodiscard]] const account& account_of(const order& it) const noexcept {
        return venue_->accounts[number(venue_->holdings[it.holding].account)];
    }

    venue* venue_;
    publisher* out_;
};

}  // namespace exchange
