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

#include <cstdint>

namespace exchange {

/// An order that passed every check.
struct new_order {
    price_ticks limit;
    contracts quantity;
    holding_index holding;
    client_sequence client_seq;
    session_id session;
    std::uint16_t market;
    order_side side;
    time_in_force tif;
    execution_instruction instruction;
    self_trade_action self_trade;  ///< Not `account_default`.
};

class matcher {
public:
    /// Both are borrowed and must outlive it.
    matcher(venue& where, publisher& out) noexcept : venue_{&where}, out_{&out} {}

    /// Trades what it can within its limit; the rest rests, or goes if it may not. There is a place in
    /// the slab, and room to rest. Returns where it rests, or none.
    order_index arrive(const new_order& it) noexcept;

    /// Takes a resting order out.
    void cancel(order_index index, cancel_reason reason, client_sequence request) noexcept;

    /// Less of a resting order, which keeps its place. `open` is above zero.
    void shrink(order_index index, contracts open, client_sequence request) noexcept;

    /// A resting order moves to another price or to the end of its own, and trades on its way. There
    /// is room for it.
    void move(order_index index, price_ticks price, contracts open,
              client_sequence request) noexcept;

private:
    [[nodiscard]] order_index make(const new_order& it) noexcept;
    /// Could it be filled completely, now?
    [[nodiscard]] bool fillable(const market& in, const order& it) const noexcept;
    /// Trades until nothing is left, or no order within `limit`, or self-trade prevention ends it.
    void match(market& in, order_index index, price_ticks limit) noexcept;
    [[nodiscard]] order_index next_maker(const market& in, order_side side) const noexcept;
    void execute(market& in, order& taker, order_index maker) noexcept;
    void avoid(market& in, order& taker, order_index maker) noexcept;
    void decrement(market& in, order& taker, order_index maker) noexcept;
    void cancel_aggressor(const market& in, order& taker, contracts gone,
                          cancel_reason reason) noexcept;
    void rest(market& in, order_index index) noexcept;
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
