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
    const price_rank worst = -rank_of(it.side, reach_);
    const bool whole_levels = !has_own_ahead(it);
    while (count_.level != 0 && is_hopeless()) {
        if (work_->spent()) return false;
        if (ladder::rank_of(memory, count_.level) > worst) break;
        if (whole_levels) {
            work_->spend(work_of_look);
            count_.found += venue_->memory.quantity_at(count_.level);
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

void matcher::set_out(market& in, order_index index, destiny what, contracts least) noexcept {
    order& it = venue_->memory.orders[index];
    index_ = index;
    rested_ = 0;
    reach_ = reach_of(in, it);
    may_rest_ = may_rest(in, it);
    destiny_ = what;
    begin_count(in, it, least);
    proceed(in, it);
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
    set_out(in, make(terms), destiny::arrives, 0);
}

void matcher::proceed(market& in, order& it) noexcept {
    if (!count_.over && !count_fills(in, it)) return;
    // Once as much is known to be there, it stays so until it is filled.
    if (!is_hopeless()) {
        if (!match(in, it)) return;
        if (reach_ != it.price && it.open != 0 && in.phase == market_phase::continuous &&
            in.book.crosses(it.side, it.price)) [[unlikely]] {
            interrupt(in);
        }
    }
    if (destiny_ == destiny::moves) finish_move(in);
    else finish_arrival(in, it);
    index_ = 0;
}

void matcher::finish_arrival(market& in, order& it) noexcept {
    if (it.open != 0 && may_rest_ && !is_hopeless()) {
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
    touch(in);
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
    touch(in);
    out_->cancelled(
        in, it,
        {venue_->holdings[it.holding].account, venue_->memory.open_of(it), reason, request});
    venue_->memory.orders.give_back(index);
}

void matcher::shrink(order_index index, contracts open, request_name request) noexcept {
    const order& it = venue_->memory.orders[index];
    market& in = market_of(it);
    lose(in, index, venue_->memory.open_of(it) - open,
         {venue_->holdings[it.holding].account, amend_priority::kept, amend_reason::requested,
          request});
}

// An auction counts what is hidden, too.
void matcher::lose(market& in, order_index index, contracts by, const amendment& how) noexcept {
    const order& it = venue_->memory.orders[index];
    venue_->holdings[it.holding].open[number(it.side)] -= by;
    touch(in);
    if (lessen(index, by)) out_->amended(in, it, how);
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
    touch(in);
    it.price = price;
    it.open = open;
    if (it.advanced) [[unlikely]]
        venue_->memory.advanced[index].hidden = 0;
    set_out(in, index, destiny::moves, 0);
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

price_ticks matcher::reach_of(const market& in, const order& it) noexcept {
    const bool buys = it.side == order_side::buy;
    if (is_collecting(in.phase)) return buys ? -price_ticks_max - 1 : price_ticks_max + 1;
    if (in.cycle.collar == 0) [[likely]]
        return it.price;
    const price_ticks reference = reference_price(in);
    return buys ? std::min(it.price, reference + in.cycle.collar)
                : std::max(it.price, reference - in.cycle.collar);
}

bool matcher::may_rest(const market& in, const order& it) noexcept {
    return is_collecting(in.phase) || !goes_at_once(it.tif);
}

bool matcher::match(market& in, order& taker) noexcept {
    const account& own = account_of(taker);
    while (taker.open != 0 && in.book.crosses(taker.side, reach_)) {
        if (work_->spent()) return false;
        work_->spend(work_of_fill);
        const order_index index = next_maker(in, opposite(taker.side));
        const order& maker = venue_->memory.orders[index];
        if (taker.self_trade != self_trade_action::allow && are_related(own, account_of(maker)))
            [[unlikely]]
            avoid(in, taker, index);
        else execute(in, taker, index);
    }
    return true;
}

void matcher::interrupt(market& in) noexcept {
    constexpr timestamp_ns never = ~timestamp_ns{0};
    const timestamp_ns now = out_->time();
    const timestamp_ns lasts = in.cycle.duration_ns;
    in.phase = market_phase::volatility_auction;
    in.cycle.told = {};
    in.cycle.ends_at = 0;
    if (lasts != 0) in.cycle.ends_at = lasts > never - now ? never : now + lasts;
    if (lasts != 0)
        venue_->next_phase_change = std::min(venue_->next_phase_change, in.cycle.ends_at);
    touch(in);
    out_->changed({.instrument = in.terms.instrument.instrument, .phase = in.phase});
}

void matcher::note_touched(market& in) noexcept {
    if (in.cycle.touched) return;
    in.cycle.touched = true;
    in.cycle.next_touched = 0;
    const auto which = static_cast<std::uint16_t>(number(in.terms.instrument.instrument));
    if (venue_->first_touched == 0) venue_->first_touched = which;
    else venue_->markets[venue_->last_touched].cycle.next_touched = which;
    venue_->last_touched = which;
}

order_index matcher::next_maker(const market& in, order_side side) const noexcept {
    return venue_->memory.levels.chunks.level(in.book.best(side)).first;
}

void matcher::execute(market& in, order& taker, order_index index) noexcept {
    const order& maker = venue_->memory.orders[index];
    const contracts quantity = std::min(maker.open, taker.open);
    taker.open -= quantity;
    taker.executed += quantity;
    note_trade(in, maker, taker, maker.price, quantity);
    fill_resting(in, index, quantity);
    out_->filled(in, {.trade = venue_->last_trade,
                      .price = maker.price,
                      .maker = &maker,
                      .taker = &taker,
                      .maker_account = &account_of(maker),
                      .taker_account = &account_of(taker),
                      .quantity = quantity});
    finish_fill(in, index);
}

void matcher::count_quoted(const market& in, const order& maker, contracts quantity) noexcept {
    protection_table& all = venue_->protections;
    const protection_index at =
        all.find(account_of(maker).first_protection, in.terms.instrument.product);
    if (at != 0 && strikes(all[at], out_->time(), maker.side, quantity)) all.strike(at);
}

void matcher::fill_resting(market& in, order_index index, contracts quantity) noexcept {
    order& it = venue_->memory.orders[index];
    holding& held = venue_->holdings[it.holding];
    if (held.quote[number(it.side)] == index) [[unlikely]]
        count_quoted(in, it, quantity);
    book::reduce(venue_->memory, index, quantity);
    it.executed += quantity;
    held.open[number(it.side)] -= quantity;
    if (it.open != 0) return;
    in.book.remove(venue_->memory, index);
    if (venue_->memory.open_of(it) == 0) [[likely]]
        forget(index);
}

void matcher::finish_fill(market& in, order_index index) noexcept {
    const order& it = venue_->memory.orders[index];
    if (it.open != 0) return;
    if (venue_->memory.open_of(it) != 0) [[unlikely]]
        return show_more(in, index);
    venue_->memory.orders.give_back(index);
}

void matcher::note_trade(market& in, const order& one, const order& other, price_ticks price,
                         contracts quantity) noexcept {
    count_trade(in.day, price, quantity);
    if (in.stops.waiting() != 0) [[unlikely]]
        in.stops.note(price);
    venue_->last_trade = trade_id{number(venue_->last_trade) + 1};
    kept_trade kept{.id = venue_->last_trade,
                    .price = price,
                    .orders = {},
                    .client_seqs = {},
                    .holdings = {},
                    .quantity = quantity,
                    .sessions = {}};
    for (const order* const each : {&one, &other}) {
        const std::size_t side = number(each->side);
        const bool buys = each->side == order_side::buy;
        venue_->holdings[each->holding].position +=
            buys ? std::int64_t{quantity} : -std::int64_t{quantity};
        venue_->days[each->holding].add(in.cycle.day, each->side, price, quantity);
        kept.orders[side] = each->id;
        kept.client_seqs[side] = each->client_seq;
        kept.holdings[side] = each->holding;
        kept.sessions[side] = each->session;
    }
    venue_->trades.keep(kept);
}

contracts matcher::cross(market& in, price_ticks price, contracts_total most) noexcept {
    const order_index buy_index = next_maker(in, order_side::buy);
    const order_index sell_index = next_maker(in, order_side::sell);
    const order& buy = venue_->memory.orders[buy_index];
    const order& sell = venue_->memory.orders[sell_index];
    const auto at_most = [most](contracts one, contracts other) {
        return static_cast<contracts>(
            std::min({contracts_total{one}, contracts_total{other}, most}));
    };
    touch(in);
    const bool allowed =
        buy.self_trade == self_trade_action::allow && sell.self_trade == self_trade_action::allow;
    if (!allowed && are_related(account_of(buy), account_of(sell))) {
        // What they hide would meet likewise, part by part.
        const contracts both = at_most(venue_->memory.open_of(buy), venue_->memory.open_of(sell));
        cut(in, buy_index, both);
        cut(in, sell_index, both);
        return both;
    }
    const contracts quantity = at_most(buy.open, sell.open);
    note_trade(in, buy, sell, price, quantity);
    fill_resting(in, buy_index, quantity);
    fill_resting(in, sell_index, quantity);
    out_->crossed(in, {.trade = venue_->last_trade,
                       .price = price,
                       .maker = &buy,
                       .taker = &sell,
                       .maker_account = &account_of(buy),
                       .taker_account = &account_of(sell),
                       .quantity = quantity});
    finish_fill(in, buy_index);
    finish_fill(in, sell_index);
    return quantity;
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
    const contracts open = venue_->memory.open_of(venue_->memory.orders[index]);
    const contracts quantity = std::min(open, taker.open);
    cut(in, index, quantity);
    if (taker.open == quantity) {
        return cancel_aggressor(in, taker, quantity, cancel_reason::self_trade);
    }
    taker.open -= quantity;
    out_->amended_unseen(in, taker,
                         {venue_->holdings[taker.holding].account, amend_priority::kept,
                          amend_reason::self_trade, request_name{}});
}

void matcher::cut(market& in, order_index index, contracts by) noexcept {
    const order& it = venue_->memory.orders[index];
    if (venue_->memory.open_of(it) == by)
        return cancel(index, cancel_reason::self_trade, request_name{});
    lose(in, index, by,
         {venue_->holdings[it.holding].account, amend_priority::kept, amend_reason::self_trade,
          request_name{}});
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
