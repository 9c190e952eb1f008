// SPDX-License-Identifier: BSL-1.0
//
// See the header. The book changes first and is published after, row by row; the ways of advanced orders are
// in advanced_matching.cpp.
#include <exchange/core/matcher.hpp>

#include <exchange/core/self_trade.hpp>

#include <algorithm>

namespace exchange {

// ---------------------------------------------------------------------------------------------
// Could as much be filled as it wants?
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
    while (count_.level != 0 && is_hopeless()) {
        if (work_->spent()) return false;
        if (ladder::rank_of(memory, count_.level) > worst) break;
        const price_level& level = memory.chunks.level(count_.level);
        if (whole_levels && level.advanced == 0) {
            work_->spend(work_of_look);
            count_.found += level.quantity;
        } else if (!count_level(it)) {
            return false;
        }
        if (count_.level != 0)
            count_.level = in.book.of(opposite(it.side)).after(memory, count_.level);
    }
    count_.over = true;
    return true;
}

// What an iceberg hides comes behind all that the level shows: whoever ends at an order of its own does not
// reach it.
bool matcher::count_level(const order& it) noexcept {
    const account& whose = account_of(it);
    const bool may_trade_own = it.self_trade == self_trade_action::allow;
    if (count_.at == 0) {
        count_.at = venue_->memory.levels.chunks.level(count_.level).first;
        count_.hidden = 0;
    }
    while (count_.at != 0) {
        if (work_->spent()) return false;
        work_->spend(work_of_look);
        const order& maker = venue_->memory.orders[count_.at];
        if (may_trade_own || !are_related(whose, account_of(maker))) {
            count_.found += maker.open;
            count_.hidden += venue_->memory.open_of(maker) - maker.open;
            if (!is_hopeless()) break;
        } else if (it.self_trade != self_trade_action::cancel_resting) {
            count_.level = 0;  // Here it would end.
            count_.hidden = 0;
            break;
        }
        count_.at = maker.next;
    }
    count_.found += count_.hidden;
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
    made.advanced = false;
    return index;
}

void matcher::begin_count(const market& in, const order& it, contracts wanted) noexcept {
    if (it.tif == time_in_force::fill_or_kill) wanted = it.open;
    count_.wanted = wanted;
    count_.found = 0;
    count_.over = wanted == 0;
    if (count_.over) return;
    count_.level = in.book.best(opposite(it.side));
    count_.at = 0;
}

void matcher::arrive(market& in, const new_order& terms) noexcept {
    index_ = make(terms);
    rested_ = 0;
    destiny_ = destiny::arrives;
    order& made = venue_->memory.orders[index_];
    begin_count(in, made, 0);
    proceed(in, made);
}

void matcher::proceed(market& in, order& it) noexcept {
    if (!count_.over && !count_fills(in, it)) return;
    // Once as much is known to be there, it stays so until it is filled.
    if (!is_hopeless() && !match(in, it, [](const order& maker) { return maker.price; })) return;
    if (destiny_ == destiny::moves) finish_move(in);
    else finish_arrival(in, it);
    index_ = 0;
}

void matcher::finish_arrival(market& in, order& it) noexcept {
    if (it.open != 0 && !goes_at_once(it.tif) && !is_hopeless()) {
        rest(in, index_);
        rested_ = index_;
        return;
    }
    if (it.open != 0) cancel_aggressor(in, it, it.open, why_it_goes(it));
    if (destiny_ == destiny::triggered) [[unlikely]]
        forget(index_);
    venue_->memory.orders.give_back(index_);
}

cancel_reason matcher::why_it_goes(const order& it) const noexcept {
    if (it.tif == time_in_force::fill_or_kill) return cancel_reason::fill_or_kill;
    return is_hopeless() ? cancel_reason::minimum_quantity : cancel_reason::immediate_or_cancel;
}

// An order that has been triggered stands in the lists since it waited.
void matcher::rest(market& in, order_index index) noexcept {
    const order& it = venue_->memory.orders[index];
    holding& held = venue_->holdings[it.holding];
    held.open[number(it.side)] += it.open;
    if (it.advanced) [[unlikely]]
        hide(index);
    in.book.add(venue_->memory, index);
    if (destiny_ != destiny::triggered) [[likely]]
        enlist(index);
    out_->rests(in, it, held.account);
}

void matcher::enlist(order_index index) noexcept {
    const order& it = venue_->memory.orders[index];
    const account_id whose = venue_->holdings[it.holding].account;
    link_order(venue_->accounts[number(whose)], venue_->memory.orders, index);
    venue_->by_client.insert(venue_->memory.orders, index);
    if (it.advanced) [[unlikely]]
        note_expiry(index);
}

void matcher::cancel(order_index index, cancel_reason reason, request_name request) noexcept {
    const order& it = venue_->memory.orders[index];
    market& in = market_of(it);
    if (venue_->memory.waits(index)) [[unlikely]]
        return cancel_stop(in, index, reason, request);
    in.book.remove(venue_->memory, index);
    forget(index);
    out_->cancelled(
        in, it,
        {venue_->holdings[it.holding].account, venue_->memory.open_of(it), reason, request});
    venue_->memory.orders.give_back(index);
}

void matcher::shrink(order_index index, contracts open, request_name request) noexcept {
    const order& it = venue_->memory.orders[index];
    market& in = market_of(it);
    holding& held = venue_->holdings[it.holding];
    const contracts less = venue_->memory.open_of(it) - open;
    held.open[number(it.side)] -= less;
    const amendment how{held.account, amend_priority::kept, amend_reason::requested, request};
    if (lessen(index, less)) out_->amended(in, it, how);
    else out_->amended_unseen(in, it, how);
}

bool matcher::lessen(order_index index, contracts by) noexcept {
    if (venue_->memory.orders[index].advanced) [[unlikely]] {
        const contracts hidden = take_hidden(index, by);
        by -= hidden;
        if (by == 0 && venue_->memory.advanced[index].display != 0) return false;
    }
    book::reduce(venue_->memory, index, by);
    return true;
}

void matcher::move(order_index index, price_ticks price, contracts open,
                   request_name request) noexcept {
    order& it = venue_->memory.orders[index];
    market& in = market_of(it);
    holding& held = venue_->holdings[it.holding];
    in.book.remove(venue_->memory, index);
    held.open[number(it.side)] -= venue_->memory.open_of(it);
    out_->loses_place(in, it, {price, open},
                      {held.account, amend_priority::lost, amend_reason::requested, request});
    it.price = price;
    it.open = open;
    if (it.advanced) [[unlikely]]
        venue_->memory.advanced[index].hidden = 0;
    index_ = index;
    destiny_ = destiny::moves;
    begin_count(in, it, 0);
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
    venue_->holdings[it.holding].open[number(it.side)] += it.open;
    if (it.advanced) [[unlikely]]
        hide(index_);
    in.book.add(venue_->memory, index_);
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
    if (in.stops.waiting() != 0) [[unlikely]]
        in.stops.note(price);
    venue_->last_trade = trade_id{number(venue_->last_trade) + 1};

    if (made.quote[number(maker.side)] == index) [[unlikely]]
        count_quoted(in, maker, quantity);
    const bool shown = maker.open != 0;
    const bool over = !shown && venue_->memory.open_of(maker) == 0;
    if (!shown) in.book.remove(venue_->memory, index);
    if (over) forget(index);
    out_->filled(in, {.trade = venue_->last_trade,
                      .price = price,
                      .maker = &maker,
                      .taker = &taker,
                      .maker_account = &venue_->accounts[number(made.account)],
                      .taker_account = &venue_->accounts[number(took.account)],
                      .quantity = quantity});
    if (over) venue_->memory.orders.give_back(index);
    else if (!shown) show_more(in, index);
}

void matcher::count_quoted(const market& in, const order& maker, contracts quantity) noexcept {
    protection_table& all = venue_->protections;
    const protection_index at =
        all.find(account_of(maker).first_protection, in.terms.instrument.product);
    if (at != 0 && strikes(all[at], out_->time(), maker.side, quantity)) all.strike(at);
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
    const contracts open = venue_->memory.open_of(maker);
    const contracts quantity = std::min(open, taker.open);
    const amendment how{held.account, amend_priority::kept, amend_reason::self_trade,
                        request_name{}};
    if (open == quantity) {
        cancel(index, cancel_reason::self_trade, request_name{});
    } else {
        held.open[number(maker.side)] -= quantity;
        if (lessen(index, quantity)) out_->amended(in, maker, how);
        else out_->amended_unseen(in, maker, how);
    }
    if (taker.open == quantity) {
        return cancel_aggressor(in, taker, quantity, cancel_reason::self_trade);
    }
    taker.open -= quantity;
    out_->amended_unseen(in, taker,
                         {venue_->holdings[taker.holding].account, amend_priority::kept,
                          amend_reason::self_trade, request_name{}});
}

void matcher::cancel_aggressor(const market& in, order& taker, contracts gone,
                               cancel_reason reason) noexcept {
    out_->cancelled_unseen(in, taker,
                           {venue_->holdings[taker.holding].account, gone, reason, request_name{}});
    taker.open = 0;
}

void matcher::forget(order_index index) noexcept {
    const order& it = venue_->memory.orders[index];
    holding& held = venue_->holdings[it.holding];
    unlink_order(venue_->accounts[number(held.account)], venue_->memory.orders, index);
    venue_->by_client.erase(venue_->memory.orders, index);
    held.open[number(it.side)] -= venue_->memory.open_of(it);
    if (it.advanced) [[unlikely]]
        forget_expiry(index);
    if (held.quote[number(it.side)] == index) held.quote[number(it.side)] = 0;
}

}  // namespace exchange
