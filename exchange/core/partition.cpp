// SPDX-License-Identifier: BSL-1.0
//
// What clients may do; quotes are in quotes.cpp, what the operator may do in administration.cpp.
//
// Every command is checked completely before anything changes, in one order that all kinds share: the
// sender, the fields, the market, the instrument's rules, the account's limits, the book, the room.
#include <exchange/core/partition.hpp>

#include <exchange/core/risk.hpp>
#include <exchange/core/self_trade.hpp>

namespace exchange {
namespace {

bool fields_are_known(const enter_order& it) noexcept {
    return it.side <= order_side::sell && it.type >= order_type::limit &&
           it.type <= order_type::market && it.tif >= time_in_force::day &&
           it.tif <= time_in_force::fill_or_kill &&
           it.instruction <= execution_instruction::post_only &&
           it.self_trade <= self_trade_action::decrement;
}

bool goes_at_once(time_in_force it) noexcept { return it >= time_in_force::immediate_or_cancel; }

// A market order cannot wait.
time_in_force effective_tif(const enter_order& it) noexcept {
    const bool waits = it.type == order_type::market && !goes_at_once(it.tif);
    return waits ? time_in_force::immediate_or_cancel : it.tif;
}

reject_reason check_terms(const instrument_terms& terms, const enter_order& it,
                          price_ticks limit) noexcept {
    const bool at_market = it.type == order_type::market;
    reject_reason why = at_market ? reject_reason::none : check_price(terms, limit);
    if (why == reject_reason::none) why = check_quantity(terms, it.quantity);
    if (why != reject_reason::none) return why;
    // Without a collar and without a limit of value, a market order has no value to check.
    const bool unbounded = at_market && terms.instrument.collar == 0;
    if (unbounded && terms.instrument.order_value_max == 0) return reject_reason::none;
    return check_value(terms, {it.side, limit, it.quantity});
}

}  // namespace

partition::partition(const partition_limits& limits) : venue_{limits} {}

// ---------------------------------------------------------------------------------------------
// Who may speak
// ---------------------------------------------------------------------------------------------

reject_reason partition::admit(session_id from, client_sequence client_seq) noexcept {
    if (!is_defined(from)) return reject_reason::unknown_session;
    session& it = venue_.sessions[number(from)];
    if (client_seq <= it.last_client_seq) return reject_reason::duplicate_client_sequence;
    if (number(client_seq) - number(it.last_client_seq) > client_sequence_jump_max) {
        return reject_reason::client_sequence_too_far;
    }
    it.last_client_seq = client_seq;
    return reject_reason::none;
}

reject_reason partition::admit_entry(session_id from, client_sequence client_seq) noexcept {
    const reject_reason why = admit(from, client_seq);
    if (why != reject_reason::none) return why;
    account& whose = account_of(from);
    if (!count_message(whose, now_)) return reject_reason::message_rate;
    if (whose.state == account_state::blocked) return reject_reason::account_blocked;
    return reject_reason::none;
}

reject_reason partition::check_market(instrument_id in) const noexcept {
    if (!is_defined(in)) return reject_reason::unknown_instrument;
    return allows_entry(venue_.markets[number(in)].phase);
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
    const bool at_market = it.type == order_type::market;
    const price_ticks limit = at_market ? market_limit(in.terms, it.side) : it.price;
    why = check_terms(in.terms, it, limit);
    if (why != reject_reason::none) return why;
    if (goes_at_once(tif) && in.book.best(opposite(it.side)) == 0 &&
        in.terms.instrument.lone_orders == lone_order_policy::reject) {
        return reject_reason::no_counterparty;
    }

    account& whose = account_of(it.session);
    holding_index held = find_holding(whose, it.instrument);
    why = check_limits(whose, venue_.holdings[held],
                       {it.side, it.quantity, it.quantity, goes_at_once(tif) ? 0 : 1});
    if (why != reject_reason::none) return why;
    if (post_only && in.book.crosses(it.side, limit)) return reject_reason::would_trade;
    if (!venue_.memory.orders.has(1) || (held == 0 && !venue_.holdings.has(1)) ||
        (!goes_at_once(tif) && !in.book.has_room(venue_.memory, it.side, limit))) {
        return reject_reason::at_capacity;
    }
    if (held == 0) held = make_holding(whose, it.instrument);

    matcher_.arrive({.limit = limit,
                     .quantity = it.quantity,
                     .holding = held,
                     .client_seq = it.client_seq,
                     .session = it.session,
                     .market = static_cast<std::uint16_t>(number(it.instrument)),
                     .side = it.side,
                     .tif = tif,
                     .instruction = it.instruction,
                     .self_trade = action_of(whose, it.self_trade)});
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
    const market& in = venue_.markets[old.market];
    const reject_reason closed = allows_entry(in.phase);
    if (closed != reject_reason::none) return closed;

    // The collar may have moved over an order that only wants to be smaller.
    const reject_reason price =
        it.price == old.price ? reject_reason::none : check_price(in.terms, it.price);
    if (price != reject_reason::none) return price;
    const reject_reason quantity = check_quantity(in.terms, it.quantity);
    if (quantity != reject_reason::none) return quantity;
    if (it.quantity <= old.executed) {
        matcher_.cancel(index, cancel_reason::amended_below_executed, it.client_seq);
        return reject_reason::none;
    }
    if (it.price == old.price && it.quantity - old.executed <= old.open) {
        matcher_.shrink(index, it.quantity - old.executed, it.client_seq);
        return reject_reason::none;
    }
    return replace(index, it);
}

reject_reason partition::replace(order_index index, const amend_order& it) noexcept {
    const order& old = venue_.memory.orders[index];
    const market& in = venue_.markets[old.market];
    const contracts open = it.quantity - old.executed;
    reject_reason why = check_value(in.terms, {old.side, it.price, it.quantity});
    if (why != reject_reason::none) return why;
    why = check_limits(account_of(it.session), venue_.holdings[old.holding],
                       {old.side, it.quantity, std::int64_t{open} - old.open, 0});
    if (why != reject_reason::none) return why;
    if (old.instruction == execution_instruction::post_only &&
        in.book.crosses(old.side, it.price)) {
        return reject_reason::would_trade;
    }
    if (!in.book.has_room(venue_.memory, old.side, it.price)) return reject_reason::at_capacity;
    matcher_.move(index, it.price, open, it.client_seq);
    return reject_reason::none;
}

// ---------------------------------------------------------------------------------------------
// Cancelling
// ---------------------------------------------------------------------------------------------

void partition::handle(const cancel_order& it) noexcept { refuse_unless_done(it, cancel(it)); }

reject_reason partition::cancel(const cancel_order& it) noexcept {
    const reject_reason why = admit(it.session, it.client_seq);
    if (why != reject_reason::none) return why;
    const order_index index = find(it.session, it.target);
    if (index == 0) return reject_reason::unknown_order;
    const bool by_client_seq = it.target.id == order_id::none;
    const order_index other =
        by_client_seq ? venue_.by_client.find_before(venue_.memory.orders, index) : 0;
    // A quote's bid was entered before its ask, so it is the other one, and goes first.
    if (other != 0) matcher_.cancel(other, cancel_reason::requested, it.client_seq);
    matcher_.cancel(index, cancel_reason::requested, it.client_seq);
    return reject_reason::none;
}

void partition::handle(const cancel_orders& it) noexcept { refuse_unless_done(it, cancel(it)); }

reject_reason partition::cancel(const cancel_orders& it) noexcept {
    const reject_reason why = admit(it.session, it.client_seq);
    if (why != reject_reason::none) return why;
    if (it.sides > side_filter::sell) return reject_reason::invalid_field;
    const account& whose = account_of(it.session);
    if (it.account != whose.terms.account) return reject_reason::not_permitted;
    const bool everywhere = it.instrument == instrument_id::none;
    if (!everywhere && !is_defined(it.instrument)) return reject_reason::unknown_instrument;

    const order_slab& orders = venue_.memory.orders;
    for (order_index at = whose.first_order; at != 0;) {
        const order& each = orders[at];
        const order_index next = each.account_next;
        const bool here = everywhere || each.market == number(it.instrument);
        const bool this_side = it.sides == side_filter::both ||
                               (each.side == order_side::buy) == (it.sides == side_filter::buy);
        if (here && this_side) matcher_.cancel(at, cancel_reason::mass_cancel, it.client_seq);
        at = next;
    }
    return reject_reason::none;
}

void partition::cancel_all(account& whose, cancel_reason reason, session_id of) noexcept {
    for (order_index at = whose.first_order; at != 0;) {
        const order& each = venue_.memory.orders[at];
        const order_index next = each.account_next;
        if (of == session_id::none || each.session == of) {
            matcher_.cancel(at, reason, client_sequence::none);
        }
        at = next;
    }
}

}  // namespace exchange
