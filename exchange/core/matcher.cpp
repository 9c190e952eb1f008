// SPDX-License-Identifier: BSL-1.0
//
// See the header. The book changes first and is published after, row by row.
#include <exchange/core/matcher.hpp>

#include <exchange/core/self_trade.hpp>

#include <algorithm>

namespace exchange {
namespace {

// What `whose` could trade at one level, in the order of time; `blocked` if it ends at one of its own.
struct reach {
    contracts_total quantity;
    bool blocked;
};

reach reach_at(const venue& in, const account& whose, const order& it, const price_level& level) {
    if (whose.terms.group == self_trade_group::none) return {level.quantity, false};
    reach found{0, false};
    for (order_index at = level.first; at != 0; at = in.memory.orders[at].next) {
        const order& maker = in.memory.orders[at];
        const account& other = in.accounts[number(in.holdings[maker.holding].account)];
        if (!would_self_trade(other, whose)) found.quantity += maker.open;
        else if (it.self_trade != self_trade_action::cancel_resting) return {found.quantity, true};
    }
    return found;
}

}  // namespace

bool matcher::fillable(const market& in, const order& it) const noexcept {
    const level_memory& memory = venue_->memory.levels;
    const ladder& levels = in.book.of(opposite(it.side));
    const account& whose = account_of(it);
    const price_rank worst = -rank_of(it.side, it.price);
    contracts_total found = 0;
    for (level_index at = levels.best(); at != 0; at = levels.after(memory, at)) {
        if (ladder::rank_of(memory, at) > worst) return false;
        const reach more = reach_at(*venue_, whose, it, memory.chunks.level(at));
        found += more.quantity;
        if (found >= it.open) return true;
        if (more.blocked) return false;
    }
    return false;
}

order_index matcher::make(const new_order& it) noexcept {
    const order_index index = venue_->memory.orders.take();
    order& made = venue_->memory.orders[index];
    made.price = it.limit;
    made.holding = it.holding;
    made.open = it.quantity;
    made.executed = 0;
    made.client_seq = it.client_seq;
    made.session = it.session;
    made.market = it.market;
    made.side = it.side;
    made.tif = it.tif;
    made.instruction = it.instruction;
    made.self_trade = it.self_trade;
    return index;
}

order_index matcher::arrive(const new_order& terms) noexcept {
    const order_index index = make(terms);
    order& it = venue_->memory.orders[index];
    market& in = venue_->markets[it.market];
    const bool kill = it.tif == time_in_force::fill_or_kill;
    if (!kill || fillable(in, it)) match(in, index, it.price);
    if (it.open != 0 && !kill && it.tif != time_in_force::immediate_or_cancel) {
        rest(in, index);
        return index;
    }
    if (it.open != 0) {
        cancel_aggressor(in, it, it.open,
                         kill ? cancel_reason::fill_or_kill : cancel_reason::immediate_or_cancel);
    }
    venue_->memory.orders.give_back(index);
    return 0;
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

void matcher::cancel(order_index index, cancel_reason reason, client_sequence request) noexcept {
    const order& it = venue_->memory.orders[index];
    market& in = venue_->markets[it.market];
    in.book.remove(venue_->memory, index);
    forget(index);
    out_->cancelled(in, it, {venue_->holdings[it.holding].account, it.open, reason, request});
    venue_->memory.orders.give_back(index);
}

void matcher::shrink(order_index index, contracts open, client_sequence request) noexcept {
    const order& it = venue_->memory.orders[index];
    market& in = venue_->markets[it.market];
    holding& held = venue_->holdings[it.holding];
    held.open[number(it.side)] -= it.open - open;
    book::reduce(venue_->memory, index, it.open - open);
    out_->amended(in, it, {held.account, amend_priority::kept, amend_reason::requested, request});
}

void matcher::move(order_index index, price_ticks price, contracts open,
                   client_sequence request) noexcept {
    order& it = venue_->memory.orders[index];
    market& in = venue_->markets[it.market];
    holding& held = venue_->holdings[it.holding];
    in.book.remove(venue_->memory, index);
    held.open[number(it.side)] -= it.open;
    out_->loses_place(in, it, {price, open},
                      {held.account, amend_priority::lost, amend_reason::requested, request});
    it.price = price;
    it.open = open;
    match(in, index, price);
    if (it.open == 0) {
        forget(index);
        venue_->memory.orders.give_back(index);
        // Its departure may have changed the best price of its own side without a fill to tell it.
        out_->top(in);
        return;
    }
    in.book.add(venue_->memory, index);
    held.open[number(it.side)] += it.open;
    out_->regains_place(in, it);
}

void matcher::match(market& in, order_index index, price_ticks limit) noexcept {
    order& taker = venue_->memory.orders[index];
    const account& own = account_of(taker);
    while (taker.open != 0 && in.book.crosses(taker.side, limit)) {
        const order_index maker = next_maker(in, opposite(taker.side));
        const account& other = account_of(venue_->memory.orders[maker]);
        if (would_self_trade(own, other)) [[unlikely]]
            avoid(in, taker, maker);
        else execute(in, taker, maker);
    }
}

order_index matcher::next_maker(const market& in, order_side side) const noexcept {
    return venue_->memory.levels.chunks.level(in.book.best(side)).first;
}

void matcher::execute(market& in, order& taker, order_index index) noexcept {
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
    count_trade(in.day, maker.price, quantity);
    venue_->last_trade = trade_id{number(venue_->last_trade) + 1};

    const bool over = maker.open == 0;
    if (over) {
        in.book.remove(venue_->memory, index);
        forget(index);
    }
    out_->filled(in, {.trade = venue_->last_trade,
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
        cancel(maker, cancel_reason::self_trade, client_sequence::none);
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
        cancel(index, cancel_reason::self_trade, client_sequence::none);
    } else {
        held.open[number(maker.side)] -= quantity;
        book::reduce(venue_->memory, index, quantity);
        out_->amended(
            in, maker,
            {held.account, amend_priority::kept, amend_reason::self_trade, client_sequence::none});
    }
    if (taker.open == quantity) {
        return cancel_aggressor(in, taker, quantity, cancel_reason::self_trade);
    }
    taker.open -= quantity;
    out_->aggressor_amended(in, taker,
                            {venue_->holdings[taker.holding].account, amend_priority::kept,
                             amend_reason::self_trade, client_sequence::none});
}

void matcher::cancel_aggressor(const market& in, order& taker, contracts gone,
                               cancel_reason reason) noexcept {
    out_->aggressor_cancelled(
        in, taker, {venue_->holdings[taker.holding].account, gone, reason, client_sequence::none});
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
