// SPDX-License-Identifier: BSL-1.0
//
// What clients may do with an order; advanced ones are in advanced_orders.cpp, cancels in cancels.cpp,
// quotes in quotes.cpp, what the operator may do in administration.cpp.
//
// Every command is checked completely before anything changes, in one order that all kinds share: the
// sender, the fields, the market, the instrument's rules, the account's limits, the book, the room.
#include <exchange/core/partition.hpp>

#include <exchange/core/risk.hpp>
#include <exchange/core/self_trade.hpp>

#include <utility>

namespace exchange {
namespace {

bool fields_are_known(const enter_order& it) noexcept {
    return it.side <= order_side::sell && it.type >= order_type::limit &&
           it.type <= order_type::market && it.tif >= time_in_force::day &&
           it.tif <= time_in_force::fill_or_kill &&
           it.instruction <= execution_instruction::post_only &&
           it.self_trade <= self_trade_action::allow;
}

// A market order cannot wait.
time_in_force effective_tif(const enter_order& it) noexcept {
    const bool waits = it.type == order_type::market && !goes_at_once(it.tif);
    return waits ? time_in_force::immediate_or_cancel : it.tif;
}

priced price_of(const market& in, const enter_order& it) noexcept {
    return it.type == order_type::market ? price_at_market(in, it.side)
                                         : priced{it.price, it.price};
}

reject_reason check_terms(const instrument_terms& terms, const enter_order& it,
                          price_ticks valued_at) noexcept {
    reject_reason why = reject_reason::none;
    if (it.type != order_type::market) why = check_price(terms, it.price);
    if (why == reject_reason::none) why = check_quantity(terms, it.quantity);
    if (why != reject_reason::none) return why;
    return check_value(terms, {it.side, valued_at, it.quantity});
}

}  // namespace

partition::partition(const partition_limits& limits)
    : venue_{limits},
      out_{venue_.memory, limits.partition},
      work_{limits.step_work_max},
      own_numbers_{limits.sessions_max},
      numbers_{&own_numbers_} {
    expects(limits.step_work_max > 0);
}

partition::partition(const partition_limits& limits, session_numbers& numbers) : partition{limits} {
    numbers_ = &numbers;
}

void partition::resume(event_sink sink) noexcept {
    expects(busy());
    out_.resume(sink);
    work_.begin();
    go_on();
    end_step();
}

void partition::go_on() noexcept {
    while (stage_ != stage::idle && advance()) {
    }
}

// False if the work of this step is done before the stage is.
bool partition::advance() noexcept {
    switch (stage_) {
        case stage::idle: return true;
        case stage::trading: return trade_some();
        case stage::triggering: return trigger_some();
        case stage::quoting: return quote_some();
        case stage::cancelling: return cancel_some();
        case stage::expiring: return expire_some();
        case stage::ending_orders: return end_some_orders();
        case stage::changing: return change_some();
        case stage::uncrossing: return uncross_some();
        case stage::advancing: return advance_some();
        case stage::indicating: return indicate_some();
    }
    return true;
}

bool partition::trade_some() noexcept {
    matcher_.proceed();
    if (matcher_.under_way()) return false;
    finish_trading();
    return true;
}

void partition::follow_trading(market& in) noexcept {
    traded_in_ = &in;
    if (matcher_.under_way()) [[unlikely]] {
        stage_ = stage::trading;
    } else if (in.stops.has_traded() || venue_.protections.first_struck() != 0) [[unlikely]] {
        stage_ = stage::triggering;
        go_on();
    }
}

void partition::finish_trading() noexcept {
    const bool leads_on = traded_in_->stops.has_traded() || venue_.protections.first_struck() != 0;
    if (leads_on) stage_ = stage::triggering;
    else finish();
}

// A timer that has ended an auction goes on with the next market.
void partition::finish() noexcept {
    stage_ = std::exchange(uncross_.by_timer, false) ? stage::advancing : stage::idle;
}

// Each that arrives may trade and reach further ones; each is reached once, so there is an end.
bool partition::trigger_some() noexcept {
    stop_book& stops = traded_in_->stops;
    for (;;) {
        if (matcher_.under_way()) matcher_.proceed();
        if (matcher_.under_way() || !withdraw_some() || work_.spent()) return false;
        const order_index next = stops.reached(venue_.memory);
        if (next == 0) break;
        work_.spend(work_of_trigger);
        matcher_.trigger(*traded_in_, next);
    }
    stops.forget_trades();
    finish();
    return true;
}

// ---------------------------------------------------------------------------------------------
// Who may speak
// ---------------------------------------------------------------------------------------------

reject_reason partition::admit(session_id from, client_sequence client_seq) noexcept {
    if (!may_speak(from)) return reject_reason::unknown_session;
    if (numbering_ == numbering::known) return reject_reason::none;
    return numbers_->admit(from, client_seq);
}

reject_reason partition::admit_entry(session_id from, client_sequence client_seq) noexcept {
    const reject_reason why = admit(from, client_seq);
    if (why != reject_reason::none) return why;
    account& whose = account_of(from);
    const message_rate rate{whose.terms.messages_per_second_max, whose.terms.message_burst_max};
    // Where a command is told to all partitions, the first has asked for all of them.
    if (numbering_ == numbering::checked && !let_through(whose.entries_until, rate, now_))
        return reject_reason::message_rate;
    if (whose.state != account_state::active) return reject_reason::account_blocked;
    return reject_reason::none;
}

reject_reason partition::admit_cancel(session_id from, client_sequence client_seq) noexcept {
    const reject_reason why = admit(from, client_seq);
    if (why != reject_reason::none || numbering_ == numbering::known) return why;
    account& whose = account_of(from);
    const message_rate rate{whose.terms.cancels_per_second_max, whose.terms.cancel_burst_max};
    return let_through(whose.cancels_until, rate, now_) ? reject_reason::none
                                                        : reject_reason::message_rate;
}

reject_reason partition::check_open(const market& in) const noexcept {
    // Its last day may be over before the timer's command says so.
    return now_ >= in.expires_at ? reject_reason::market_closed : allows_entry(in.phase);
}

reject_reason partition::check_market(instrument_id in) const noexcept {
    if (!is_defined(in)) return reject_reason::unknown_instrument;
    return check_open(venue_.markets[number(in)]);
}

holding_index partition::make_holding(account& whose, instrument_id in) noexcept {
    const holding_index made =
        venue_.holdings.make(whose.terms.account, static_cast<std::uint16_t>(number(in)));
    venue_.holdings[made].account_next = whose.last_holding;
    whose.last_holding = made;
    return made;
}

order_index partition::find(session_id from, const order_reference& target) const noexcept {
    const order_slab& orders = venue_.memory.orders;
    if (target.id == order_id::none) return venue_.by_client.find(orders, from, target.client_seq);
    const order_index found = orders.find(target.id);
    if (found == 0) return 0;
    // Any session of the account may: the one that entered it may be gone.
    const account_id owner = venue_.holdings[orders[found].holding].account;
    return owner == venue_.sessions[number(from)].account ? found : 0;
}

// ---------------------------------------------------------------------------------------------
// Entering
// ---------------------------------------------------------------------------------------------

void partition::handle(const enter_order& it) noexcept { refuse_unless_done(it, enter(it)); }

reject_reason partition::enter(const enter_order& it) noexcept {
    reject_reason why = admit_entry(it.session, it.client_seq);
    if (why != reject_reason::none) return why;
    if (!fields_are_known(it)) return reject_reason::invalid_field;
    const time_in_force tif = effective_tif(it);
    const bool post_only = it.instruction == execution_instruction::post_only;
    if (post_only && goes_at_once(tif)) return reject_reason::invalid_combination;
    why = check_market(it.instrument);
    if (why != reject_reason::none) return why;

    market& in = venue_.markets[number(it.instrument)];
    const bool collecting = is_collecting(in.phase);
    if (collecting && (post_only || goes_at_once(it.tif))) return reject_reason::not_in_auction;
    // An order at the market waits for the end of an auction, too.
    const bool waits = collecting || !goes_at_once(tif);
    if (it.type == order_type::market && !is_protected(in))
        return reject_reason::no_price_protection;
    const auto [limit, valued_at] = price_of(in, it);
    why = check_terms(in.terms, it, valued_at);
    if (why != reject_reason::none) return why;
    if (!waits && in.book.best(opposite(it.side)) == 0 &&
        in.terms.instrument.lone_orders == lone_order_policy::reject) {
        return reject_reason::no_counterparty;
    }

    account& whose = account_of(it.session);
    holding_index held = find_holding(whose, it.instrument);
    why = check_limits(whose, venue_.holdings[held],
                       {it.side, it.quantity, it.quantity, waits ? 1 : 0});
    if (why != reject_reason::none) return why;
    if (post_only && in.book.crosses(it.side, limit)) return reject_reason::would_trade;
    if (!venue_.memory.orders.has(1) || (held == 0 && !venue_.holdings.has(1)) ||
        (waits && !in.book.has_room(venue_.memory, it.side, limit))) {
        return reject_reason::at_capacity;
    }
    if (held == 0) held = make_holding(whose, it.instrument);

    matcher_.arrive(in, {.limit = limit,
                         .quantity = it.quantity,
                         .holding = held,
                         .client_seq = it.client_seq,
                         .session = it.session,
                         .side = it.side,
                         .tif = tif,
                         .instruction = it.instruction,
                         .self_trade = action_of(whose, it.self_trade)});
    follow_trading(in);
    return reject_reason::none;
}

// ---------------------------------------------------------------------------------------------
// Amending
// ---------------------------------------------------------------------------------------------

void partition::handle(const amend_order& it) noexcept { refuse_unless_done(it, amend(it)); }

reject_reason partition::amend(const amend_order& it) noexcept {
    const reject_reason why = admit_entry(it.session, it.client_seq);
    if (why != reject_reason::none) return why;
    const order_index index = find(it.session, it.target);
    if (index == 0) return reject_reason::unknown_order;
    const order& old = venue_.memory.orders[index];
    const holding& held = venue_.holdings[old.holding];
    if (held.quote[number(old.side)] == index) return reject_reason::part_of_quote;
    const market& in = venue_.markets[held.market];
    const reject_reason closed = check_open(in);
    if (closed != reject_reason::none) return closed;
    const request_name request{it.session, it.client_seq};
    if (venue_.memory.waits(index)) [[unlikely]] {
        const price_ticks trigger = venue_.memory.advanced[index].trigger;
        return amend_waiting(index, {trigger, it.price, it.quantity}, request);
    }

    // The collar may have moved over an order that only wants to be smaller; what wants more must be within.
    const bool grows = it.quantity > std::uint64_t{old.executed} + venue_.memory.open_of(old);
    const bool asks_price = it.price != old.price || grows;
    // It has no limit that could be another.
    const bool at_market = old.tif == time_in_force::immediate_or_cancel;
    if (at_market && asks_price) return reject_reason::invalid_combination;
    const reject_reason price = asks_price ? check_price(in.terms, it.price) : reject_reason::none;
    if (price != reject_reason::none) return price;
    const reject_reason quantity = check_quantity(in.terms, it.quantity);
    if (quantity != reject_reason::none) return quantity;
    if (it.quantity <= old.executed) {
        matcher_.cancel(index, cancel_reason::amended_below_executed, request);
        return reject_reason::none;
    }
    if (!asks_price) {
        matcher_.shrink(index, it.quantity - old.executed, request);
        return reject_reason::none;
    }
    return replace(index, it);
}

reject_reason partition::replace(order_index index, const amend_order& it) noexcept {
    const order& old = venue_.memory.orders[index];
    market& in = venue_.markets[venue_.holdings[old.holding].market];
    const contracts open = it.quantity - old.executed;
    reject_reason why = check_value(in.terms, {old.side, it.price, it.quantity});
    if (why != reject_reason::none) return why;
    why = check_limits(account_of(it.session), venue_.holdings[old.holding],
                       {old.side, it.quantity, std::int64_t{open} - venue_.memory.open_of(old), 0});
    if (why != reject_reason::none) return why;
    if (old.instruction == execution_instruction::post_only &&
        in.book.crosses(old.side, it.price)) {
        return reject_reason::would_trade;
    }
    if (!in.book.has_room(venue_.memory, old.side, it.price)) return reject_reason::at_capacity;
    matcher_.move(index, it.price, open, {it.session, it.client_seq});
    follow_trading(in);
    return reject_reason::none;
}

}  // namespace exchange
