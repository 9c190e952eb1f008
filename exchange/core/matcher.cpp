// SPDX-License-Identifier: BSL-1.0
//
// See the header. The book changes first and is published after, row by row.
#include <exchange/core/matcher.hpp>

#include <exchange/core/self_trade.hpp>

#include <algorithm>

namespace exchange {

// ---------------------------------------------------------------------------------------------
// Could it be filled completely?
// ---------------------------------------------------------------------------------------------

bool matcher::has_own_ahead(const order& it) const noexcept {
    if (it.self_trade == self_trade_action::allow) return false;
    // Who else belongs to a group is not known without looking.
    if (account_of(it).terms.group != self_trade_group::none) return true;
    return venue_->holdings[it.holding].open[number(opposite(it.side))] != 0;
}

bool matcher::count_fills(const market& in, const order& it) noexcept {
    const level_memory& memory = venue_->memory.levels;
    const price_rank worst = -rank_of(it.side, it.price);
    const bool whole_levels = !has_own_ahead(it);
    while (count_.level != 0 && count_.found < it.open) {
        if (work_->spent()) return false;
        if (ladder::rank_of(memory, count_.level) > worst) break;
        if (whole_levels) {
            work_->spend(work_of_look);
            count_.found += memory.chunks.level(count_.level).quantity;
        } else if (!count_level(it)) {
            return false;
        }
        if (count_.level != 0)
            count_.level = in.book.of(opposite(it.side)).after(memory, count_.level);
    }
    count_.over = true;
    return true;
}

bool matcher::count_level(const order& it) noexcept {
    const account& whose = account_of(it);
    if (count_.at == 0) count_.at = venue_->memory.levels.chunks.level(count_.level).first;
    while (count_.at != 0) {
        if (work_->spent()) return false;
        work_->spend(work_of_look);
        const order& maker = venue_->memory.orders[count_.at];
        if (!are_related(whose, account_of(maker))) {
            count_.found += maker.open;
            if (count_.found >= it.open) break;
        } else if (it.self_trade != self_trade_action::cancel_resting) {
            count_.level = 0;  // Here it would end.
            break;
        }
        count_.at = maker.next;
    }
    count_.at = 0;
    return true;
}

// ---------------------------------------------------------------------------------------------
// Its way
// ---------------------------------------------------------------------------------------------

order_index matcher::make(const new_order& it) noexcept {
    const order_index index = venue_->memory.orders.take();
    order& made = venue_->memory.orders[index];
    made.price = it.limit;
    made.holding = it.holding;
    made.open = it.quantity;
    made.executed = 0;
    made.client_seq = it.client_seq;
    made.session = it.session;
    made.side = it.side;
    made.tif = it.tif;
    made.instruction = it.instruction;
    made.self_trade = it.self_trade;
    return index;
}

void matcher::arrive(market& in, const new_order& terms) noexcept {
    index_ = make(terms);
    rested_ = 0;
    destiny_ = destiny::arrives;
    count_.over = terms.tif != time_in_force::fill_or_kill;
    if (!count_.over)
        count_ = {.level = in.book.best(opposite(terms.side)), .at = 0, .found = 0, .over = false};
    proceed(in, venue_->memory.orders[index_]);
}

void matcher::proceed(market& in, order& it) noexcept {
    if (!count_.over && !count_fills(in, it)) return;
    // Once it is known to be filled, the count never falls below what is still open.
    const bool hopeless = it.tif == time_in_force::fill_or_kill && count_.found < it.open;
    if (!hopeless && !match(in, it, [](const order& maker) { return maker.price; })) return;
    if (destiny_ == destiny::moves) finish_move(in);
    else finish_arrival(in, it);
    index_ = 0;
}

void matcher::finish_arrival(market& in, order& it) noexcept {
    const bool kill = it.tif == time_in_force::fill_or_kill;
    if (it.open != 0 && !kill && it.tif != time_in_force::immediate_or_cancel) {
        rest(in, index_);
        rested_ = index_;
        return;
    }
    if (it.open != 0) {
        cancel_aggressor(in, it, it.open,
                         kill ? cancel_reason::fill_or_kill : cancel_reason::immediate_or_cancel);
    }
    venue_->memory.orders.give_back(index_);
}

void matcher::rest(market& in, order_index index) noexcept {
    const order& it = venue_->memory.orders[index];
    holding& held = venue_->holdings[it.holding];
    in.book.add(venue_->memory, index);
    link_order(venue_->accounts[number(held.account)], venue_->memory.orders, index);
    venue_->by_client.insert(venue_->memory.orders, index);
    held.open[number(it.side)] += it.open;
    out_->rests(in, it, held.account);
}

void matcher::cancel(order_index index, cancel_reason reason, request_name request) noexcept {
    const order& it = venue_->memory.orders[index];
    market& in = market_of(it);
    in.book.remove(venue_->memory, index);
    forget(index);
    out_->cancelled(in, it, {venue_->holdings[it.holding].account, it.open, reason, request});
    venue_->memory.orders.give_back(index);
}

void matcher::shrink(order_index index, contracts open, request_name request) noexcept {
    const order& it = venue_->memory.orders[index];
    market& in = market_of(it);
    holding& held = venue_->holdings[it.holding];
    held.open[number(it.side)] -= it.open - open;
    book::reduce(venue_->memory, index, it.open - open);
    out_->amended(in, it, {held.account, amend_priority::kept, amend_reason::requested, request});
}

void matcher::move(order_index index, price_ticks price, contracts open,
                   request_name request) noexcept {
    order& it = venue_->memory.orders[index];
    market& in = market_of(it);
    holding& held = venue_->holdings[it.holding];
    in.book.remove(venue_->memory, index);
    held.open[number(it.side)] -= it.open;
    out_->loses_place(in, it, {price, open},
                      {held.account, amend_priority::lost, amend_reason::requested, request});
    it.price = price;
    it.open = open;
    index_ = index;
    destiny_ = destiny::moves;
    count_.over = true;
    proceed(in, it);
}

void matcher::finish_move(market& in) noexcept {
    const order& it = venue_->memory.orders[index_];
    if (it.open == 0) {
        forget(index_);
        venue_->memory.orders.give_back(index_);
        // Its departure may have changed the best price of its own side without a fill to tell it.
        out_->top(in);
        return;
    }
    in.book.add(venue_->memory, index_);
    venue_->holdings[it.holding].open[number(it.side)] += it.open;
    out_->regains_place(in, it);
}

template <class PriceRule>
bool matcher::match(market& in, order& taker, PriceRule price_of) noexcept {
    const account& own = account_of(taker);
    while (taker.open != 0 && in.book.crosses(taker.side, taker.price)) {
        if (work_->spent()) return false;
        work_->spend(work_of_fill);
        const order_index index = next_maker(in, opposite(taker.side));
        const order& maker = venue_->memory.orders[index];
        if (taker.self_trade != self_trade_action::allow && are_related(own, account_of(maker)))
            [[unlikely]]
            avoid(in, taker, index);
        else execute(in, taker, index, price_of(maker));
    }
    return true;
}

order_index matcher::next_maker(const market& in, order_side side) const noexcept {
    return venue_->memory.levels.chunks.level(in.book.best(side)).first;
}

void matcher::execute(market& in, order& taker, order_index index, price_ticks price) noexcept {
    order& maker = venue_->memory.orders[index];
    holding& made = venue_->holdings[maker.holding];
    holding& took = venue_->holdings[taker.holding];
    const contracts quantity = std::min(maker.open, taker.open);
    const std::int64_t bought =
        taker.side == order_side::buy ? std::int64_t{quantity} : -std::int64_t{quantity};

    book::reduce(venue_->memory, index, quantity);
    maker.executed += quantity;
    made.open[number(maker.side)] -= quantity;
    made.position -= bought;
    taker.open -= quantity;
    taker.executed += quantity;
    took.position += bought;
    count_trade(in.day, price, quantity);
    venue_->last_trade = trade_id{number(venue_->last_trade) + 1};

    const bool over = maker.open == 0;
    if (over) {
        in.book.remove(venue_->memory, index);
        forget(index);
    }
    out_->filled(in, {.trade = venue_->last_trade,
                      .price = price,
                      .maker = &maker,
                      .taker = &taker,
                      .maker_account = &venue_->accounts[number(made.account)],
                      .taker_account = &venue_->accounts[number(took.account)],
                      .quantity = quantity});
    if (over) venue_->memory.orders.give_back(index);
}

void matcher::avoid(market& in, order& taker, order_index maker) noexcept {
    if (taker.self_trade == self_trade_action::decrement) return decrement(in, taker, maker);
    if (cancels_resting(taker.self_trade)) {
        cancel(maker, cancel_reason::self_trade, request_name{});
    }
    if (cancels_aggressor(taker.self_trade)) {
        cancel_aggressor(in, taker, taker.open, cancel_reason::self_trade);
    }
}

void matcher::decrement(market& in, order& taker, order_index index) noexcept {
    const order& maker = venue_->memory.orders[index];
    holding& held = venue_->holdings[maker.holding];
    const contracts quantity = std::min(maker.open, taker.open);
    if (maker.open == quantity) {
        cancel(index, cancel_reason::self_trade, request_name{});
    } else {
        held.open[number(maker.side)] -= quantity;
        book::reduce(venue_->memory, index, quantity);
        out_->amended(
            in, maker,
            {held.account, amend_priority::kept, amend_reason::self_trade, request_name{}});
    }
    if (taker.open == quantity) {
        return cancel_aggressor(in, taker, quantity, cancel_reason::self_trade);
    }
    taker.open -= quantity;
    out_->aggressor_amended(in, taker,
                            {venue_->holdings[taker.holding].account, amend_priority::kept,
                             amend_reason::self_trade, request_name{}});
}

void matcher::cancel_aggressor(const market& in, order& taker, contracts gone,
                               cancel_reason reason) noexcept {
    out_->aggressor_cancelled(
        in, taker, {venue_->holdings[taker.holding].account, gone, reason, request_name{}});
    taker.open = 0;
}

void matcher::forget(order_index index) noexcept {
    const order& it = venue_->memory.orders[index];
    holding& held = venue_->holdings[it.holding];
    unlink_order(venue_->accounts[number(held.account)], venue_->memory.orders, index);
    venue_->by_client.erase(venue_->memory.orders, index);
    held.open[number(it.side)] -= it.open;
    if (held.quote[number(it.side)] == index) held.quote[number(it.side)] = 0;
}

}  // namespace exchange
