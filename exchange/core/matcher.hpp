// SPDX-License-Identifier: BSL-1.0
//
// What happens to an order: it trades, comes to rest, is changed, and leaves.
//
// Within a level the first in time is the first to trade; `next_maker` is where another allocation
// would choose otherwise. An order trades as far as it may reach: to its limit, not beyond what
// interrupts its market, and in an auction not at all. There `cross` trades the first orders of both
// sides with each other. What is special about advanced orders is in advanced_matching.cpp: an iceberg
// that has shown all of a part adds the next one last at its price; a stop stands beside the book until a
// trade makes it arrive.
#pragma once

#include <exchange/core/publisher.hpp>
#include <exchange/core/step.hpp>
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
    order_side side;
    time_in_force tif;
    execution_instruction instruction;
    self_trade_action self_trade;  ///< Not `account_default`.
};

/// What an advanced order has beside that; zero is none.
struct new_terms {
    order_type type;
    price_ticks trigger;
    contracts display;
    contracts minimum;
    std::uint32_t expiry_yyyymmdd;
};

/// What a stop that waits becomes.
struct stop_change {
    price_ticks trigger;
    price_ticks price;
    contracts quantity;
};

/// One order at a time is under way: from `arrive`, `move` or `trigger` on, over as many calls of
/// `proceed` as its work takes. Nothing else happens meanwhile.
class matcher {
public:
    /// All are borrowed and must outlive it.
    matcher(venue& where, publisher& out, step_work& work) noexcept
        : venue_{&where}, out_{&out}, work_{&work} {}

    /// Trades what it can within its limit; the rest rests, or goes if it may not. There is a place in
    /// the slab, and room to rest.
    void arrive(market& in, const new_order& it) noexcept;
    /// The same of an advanced order. A stop only waits: there is room for it to do so.
    void arrive(market& in, const new_order& it, const new_terms& terms) noexcept;

    /// A stop that waits arrives: it trades, rests or goes as if it were entered now. Cancelled if nothing
    /// bounds its price, or if there is no room for it to rest.
    void trigger(market& in, order_index index) noexcept;

    /// A resting order moves to another price or to the end of its own, and trades on its way. There
    /// is room for it.
    void move(order_index index, price_ticks price, contracts open, request_name request) noexcept;

    /// Goes on with the order that is under way.
    void proceed() noexcept {
        order& it = venue_->memory.orders[index_];
        proceed(market_of(it), it);
    }
    [[nodiscard]] bool under_way() const noexcept { return index_ != 0; }

    /// Where the last order rests that arrived; none if it does not.
    [[nodiscard]] order_index rested() const noexcept { return rested_; }

    /// Takes an order out that rests or waits.
    void cancel(order_index index, cancel_reason reason, request_name request) noexcept;

    /// Trades the first buy with the first sell at this price, which is within both limits; or both
    /// lose as much, if they are of related accounts and do not both allow it.
    ///
    /// @param  most  Above zero.
    /// @return How much that was.
    [[nodiscard]] contracts cross(market& in, price_ticks price, contracts_total most) noexcept;

    /// Notes that the book of a market was changed, if its auction has to tell what that means.
    void touch(market& in) noexcept {
        if (is_collecting(in.phase)) [[unlikely]]
            note_touched(in);
    }

    /// Less of a resting order, which keeps its place. `open` is above zero.
    void shrink(order_index index, contracts open, request_name request) noexcept;

    /// A stop that waits becomes another one, for which there is room.
    void amend_stop(order_index index, const stop_change& to, request_name request) noexcept;

private:
    /// What becomes of the order that is under way, once it has traded.
    enum class destiny : std::uint8_t { arrives, moves, triggered };

    /// Where counting has come to that asks whether as much could be filled as an order wants at least.
    struct fill_count {
        level_index level;  ///< Whose orders are not all counted; none: there is nothing more.
        order_index at;     ///< The next of them, or 0: none of this level was looked at.
        contracts wanted;   ///< 0: it takes what there is.
        contracts_total found;
        contracts_total hidden;  ///< Behind what this level shows; it is reached if all of that is.
        bool over;               ///< Of an order that need not be counted, from the beginning.
    };

    [[nodiscard]] order_index make(const new_order& it) noexcept;
    /// Sends an order on its way, of which at least so much has to be filled at once.
    void set_out(market& in, order_index index, destiny what, contracts least) noexcept;
    void begin_count(const market& in, const order& it, contracts wanted) noexcept;
    /// Was less found than it wants?
    [[nodiscard]] bool is_hopeless() const noexcept { return count_.found < count_.wanted; }
    void proceed(market& in, order& it) noexcept;
    /// Counts what the order could trade. False if that takes another step.
    [[nodiscard]] bool count_fills(const market& in, const order& it) noexcept;
    /// Counts one level, order by order. False if that takes another step.
    [[nodiscard]] bool count_level(const order& it) noexcept;
    /// How far an order may trade: a price at which it meets no other if it may not at all.
    [[nodiscard]] static price_ticks reach_of(const market& in, const order& it) noexcept;
    /// May what is left of it rest? In an auction anything waits for its end.
    [[nodiscard]] static bool may_rest(const market& in, const order& it) noexcept;
    /// Trades until nothing is left, or no order within its reach, or self-trade prevention ends it. False
    /// if that takes another step.
    [[nodiscard]] bool match(market& in, order& taker) noexcept;
    /// The order would trade farther than it may reach: the market is in an auction from now on.
    void interrupt(market& in) noexcept;
    void note_touched(market& in) noexcept;
    void finish_arrival(market& in, order& it) noexcept;
    void finish_move(market& in) noexcept;
    [[nodiscard]] order_index next_maker(const market& in, order_side side) const noexcept;
    /// May the order meet others of its own account or group?
    [[nodiscard]] bool has_own_ahead(const order& it) const noexcept;
    void execute(market& in, order& taker, order_index maker) noexcept;
    /// Of a resting order, which leaves its level if it shows nothing any more. It keeps its place in the
    /// slab until `finish_fill`.
    void fill_resting(market& in, order_index index, contracts quantity) noexcept;
    /// Behind what was told of its fill: the next part of it is shown, or nothing is left.
    void finish_fill(market& in, order_index index) noexcept;
    void count_quoted(const market& in, const order& maker, contracts quantity) noexcept;
    /// Counts a trade that has happened, and keeps it. `one` is not of the side of `other`.
    void note_trade(market& in, const order& one, const order& other, price_ticks price,
                    contracts quantity) noexcept;
    /// Takes from a resting order what self-trade prevention does; at most what is open of it.
    void cut(market& in, order_index index, contracts by) noexcept;
    void avoid(market& in, order& taker, order_index maker) noexcept;
    void decrement(market& in, order& taker, order_index maker) noexcept;
    void cancel_aggressor(const market& in, order& taker, contracts gone,
                          cancel_reason reason) noexcept;
    void rest(market& in, order_index index) noexcept;
    [[nodiscard]] cancel_reason why_it_goes(const order& it) const noexcept;
    /// Puts an order where it is found by its owner, by its name, and by its last day if it has one.
    void enlist(order_index index) noexcept;
    void wait(market& in, order_index index) noexcept;
    void cancel_stop(market& in, order_index index, cancel_reason reason,
                     request_name request) noexcept;
    void drop_triggered(market& in, order_index index, cancel_reason reason) noexcept;
    /// Hides of an iceberg that comes to rest what it does not show.
    void hide(order_index index) noexcept;
    void show_more(market& in, order_index index) noexcept;
    /// Less of a resting order than is open of it, by so much.
    void lose(market& in, order_index index, contracts by, const amendment& how) noexcept;
    /// Takes `by` from an order that keeps its place, first of what it hides. Is less shown than before?
    [[nodiscard]] bool lessen(order_index index, contracts by) noexcept;
    /// Takes at most `by` of what it hides. Says how much that was.
    [[nodiscard]] contracts take_hidden(order_index index, contracts by) noexcept;
    void note_expiry(order_index index) noexcept;
    void forget_expiry(order_index index) noexcept;
    void forget(order_index index) noexcept;

    [[nodiscard]] market& market_of(const order& it) noexcept {
        return venue_->markets[venue_->holdings[it.holding].market];
    }
    [[nodiscard]] const account& account_of(const order& it) const noexcept {
        return venue_->accounts[number(venue_->holdings[it.holding].account)];
    }

    venue* venue_;
    publisher* out_;
    step_work* work_;
    order_index index_ = 0;  // Of the order that is under way.
    order_index rested_ = 0;
    price_ticks reach_ = 0;
    bool may_rest_ = false;
    destiny destiny_ = destiny::arrives;
    fill_count count_{};
};

}  // namespace exchange
