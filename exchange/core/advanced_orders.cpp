// SPDX-License-Identifier: BSL-1.0
//
// What clients may do with advanced orders, and what ends those with a last day.
//
// Checked as every order is (partition.cpp), and by the limits as if a stop were in the book already: what
// it was allowed when it came it may do when it is triggered, without another question but for room.
#include <exchange/core/partition.hpp>

#include <exchange/core/risk.hpp>
#include <exchange/core/self_trade.hpp>

#include <algorithm>

namespace exchange {
namespace {

bool fields_are_known(const enter_advanced_order& it) noexcept {
    return it.side <= order_side::sell && it.type >= order_type::limit &&
           it.type <= order_type::stop_limit && it.tif >= time_in_force::day &&
           it.tif <= time_in_force::good_till_date &&
           it.instruction <= execution_instruction::post_only &&
           it.self_trade <= self_trade_action::allow;
}

// A market order cannot wait.
time_in_force effective_tif(const enter_advanced_order& it) noexcept {
    const bool waits = it.type == order_type::market && !goes_at_once(it.tif);
    return waits ? time_in_force::immediate_or_cancel : it.tif;
}

bool has_sound_expiry(const enter_advanced_order& it) noexcept {
    const bool dated = it.tif == time_in_force::good_till_date;
    return dated == (it.expiry_yyyymmdd != 0) && !(dated && it.type == order_type::market);
}

bool has_sound_display(const enter_advanced_order& it, bool may_rest) noexcept {
    if (it.display_quantity == 0) return true;
    return may_rest && !is_at_market(it.type) && it.display_quantity < it.quantity;
}

bool has_sound_minimum(const enter_advanced_order& it) noexcept {
    return it.minimum_quantity == 0 ||
           (it.minimum_quantity <= it.quantity && it.tif != time_in_force::fill_or_kill &&
            it.instruction != execution_instruction::post_only);
}

// Does one of its terms contradict another?
bool is_sound(const enter_advanced_order& it) noexcept {
    const bool may_rest = !goes_at_once(effective_tif(it));
    const bool post_only = it.instruction == execution_instruction::post_only;
    if (is_stop(it.type) && (!may_rest || post_only)) return false;
    if (post_only && !may_rest) return false;
    return has_sound_expiry(it) && has_sound_display(it, may_rest) && has_sound_minimum(it);
}

// What has to trade at once, or must not, is not taken where nothing trades on arrival. A stop arrives later.
bool may_be_collected(const enter_advanced_order& it) noexcept {
    return !goes_at_once(it.tif) && it.instruction != execution_instruction::post_only &&
           (it.minimum_quantity == 0 || is_stop(it.type));
}

bool may_wait(const market& in, const enter_advanced_order& it) noexcept {
    return is_collecting(in.phase) || !goes_at_once(effective_tif(it));
}

// A stop is bounded when it is triggered, too, by what there is then.
bool is_bounded(const market& in, const enter_advanced_order& it) noexcept {
    if (!is_at_market(it.type)) return true;
    return is_stop(it.type) ? is_protected(in.terms) : is_protected(in);
}

priced price_of(const market& in, const enter_advanced_order& it) noexcept {
    if (!is_at_market(it.type)) return {it.price, it.price};
    // A stop is asked as if the market stood at its trigger.
    if (is_stop(it.type)) return price_at_market(in.terms, it.side, it.trigger_price);
    return price_at_market(in, it.side);
}

bool in_lots(const instrument_terms& terms, contracts quantity) noexcept {
    return quantity % terms.product.lot == 0;
}

// What a stop is worth is asked once its trigger is known to be a price.
reject_reason check_terms(const market& in, const enter_advanced_order& it) noexcept {
    const instrument_terms& terms = in.terms;
    reject_reason why = reject_reason::none;
    if (!is_at_market(it.type)) why = check_price(terms, it.price);
    if (why == reject_reason::none && is_stop(it.type))
        why = check_trigger(terms, it.trigger_price);
    if (why == reject_reason::none) why = check_quantity(terms, it.quantity);
    if (why != reject_reason::none) return why;
    if (!in_lots(terms, it.display_quantity) || !in_lots(terms, it.minimum_quantity))
        return reject_reason::invalid_quantity;
    return check_value(terms, {it.side, price_of(in, it).valued_at, it.quantity});
}

}  // namespace

// ---------------------------------------------------------------------------------------------
// Entering
// ---------------------------------------------------------------------------------------------

void partition::handle(const enter_advanced_order& it) noexcept {
    refuse_unless_done(it, enter(it));
}

reject_reason partition::enter(const enter_advanced_order& it) noexcept {
    reject_reason why = admit_entry(it.session, it.client_seq);
    if (why == reject_reason::none) why = check_fields(it);
    if (why == reject_reason::none) why = check_market(it.instrument);
    if (why != reject_reason::none) return why;

    market& in = venue_.markets[number(it.instrument)];
    if (is_collecting(in.phase) && !may_be_collected(it)) return reject_reason::not_in_auction;
    if (!is_bounded(in, it)) return reject_reason::no_price_protection;
    why = check_terms(in, it);
    if (why != reject_reason::none) return why;
    const bool waits = may_wait(in, it);
    if (!waits && in.book.best(opposite(it.side)) == 0 &&
        in.terms.instrument.lone_orders == lone_order_policy::reject) {
        return reject_reason::no_counterparty;
    }

    account& whose = account_of(it.session);
    holding_index held = find_holding(whose, it.instrument);
    why = check_limits(whose, venue_.holdings[held],
                       {it.side, it.quantity, it.quantity, waits ? 1 : 0});
    if (why != reject_reason::none) return why;
    if (it.instruction == execution_instruction::post_only && in.book.crosses(it.side, it.price))
        return reject_reason::would_trade;
    if (is_stop(it.type) && has_passed(in.day, it.side, it.trigger_price))
        return reject_reason::trigger_passed;
    if (!has_room(it, in, held)) return reject_reason::at_capacity;
    if (held == 0) held = make_holding(whose, it.instrument);

    matcher_.arrive(
        in,
        {.limit = it.type == order_type::stop ? it.trigger_price : price_of(in, it).limit,
         .quantity = it.quantity,
         .holding = held,
         .client_seq = it.client_seq,
         .session = it.session,
         .side = it.side,
         .tif = effective_tif(it),
         .instruction = it.instruction,
         .self_trade = action_of(whose, it.self_trade)},
        {.type = it.type,
         .trigger = is_stop(it.type) ? it.trigger_price : 0,
         .display = it.display_quantity,
         .minimum = it.minimum_quantity,
         .expiry_yyyymmdd = it.expiry_yyyymmdd});
    follow_trading(in);
    return reject_reason::none;
}

reject_reason partition::check_fields(const enter_advanced_order& it) const noexcept {
    if (!fields_are_known(it)) return reject_reason::invalid_field;
    if (!is_sound(it)) return reject_reason::invalid_combination;
    const std::uint32_t last_day = it.expiry_yyyymmdd;
    const bool over = last_day != 0 && (!is_date(last_day) || now_ >= end_of_expiry(last_day));
    return over ? reject_reason::invalid_expiry : reject_reason::none;
}

bool partition::has_room(const enter_advanced_order& it, const market& in,
                         holding_index held) const noexcept {
    if (!venue_.memory.orders.has(1) || (held == 0 && !venue_.holdings.has(1))) return false;
    if (is_stop(it.type)) return in.stops.has_room(venue_.memory, it.side, it.trigger_price);
    return !may_wait(in, it) || in.book.has_room(venue_.memory, it.side, price_of(in, it).limit);
}

// ---------------------------------------------------------------------------------------------
// Amending what waits
// ---------------------------------------------------------------------------------------------

void partition::handle(const amend_stop& it) noexcept { refuse_unless_done(it, amend(it)); }

reject_reason partition::amend(const amend_stop& it) noexcept {
    const reject_reason why = admit_entry(it.session, it.client_seq);
    if (why != reject_reason::none) return why;
    const order_index index = find(it.session, it.target);
    if (index == 0) return reject_reason::unknown_order;
    if (!venue_.memory.waits(index)) return reject_reason::not_waiting;
    const market& in = venue_.markets[venue_.holdings[venue_.memory.orders[index].holding].market];
    const reject_reason closed = check_open(in);
    if (closed != reject_reason::none) return closed;
    return amend_waiting(index, {it.trigger_price, it.price, it.quantity},
                         {it.session, it.client_seq});
}

// The collar may have moved over a limit that is only to be smaller; what wants more must be within.
reject_reason partition::amend_waiting(order_index index, stop_change to,
                                       request_name by) noexcept {
    const order& old = venue_.memory.orders[index];
    const advanced_terms& terms = venue_.memory.advanced[index];
    const instrument_terms& in = venue_.markets[venue_.holdings[old.holding].market].terms;
    const bool at_market = is_at_market(terms.type);
    if (at_market) to.price = to.trigger;
    const bool asks_more =
        to.trigger != terms.trigger || to.price != old.price || to.quantity > old.open;
    reject_reason why = reject_reason::none;
    if (asks_more && !at_market) why = check_price(in, to.price);
    if (asks_more && why == reject_reason::none) why = check_trigger(in, to.trigger);
    if (why == reject_reason::none) why = check_quantity(in, to.quantity);
    if (why == reject_reason::none && to.quantity < terms.minimum)
        why = reject_reason::invalid_combination;
    if (why == reject_reason::none && asks_more) why = check_more(index, to, by.session);
    if (why == reject_reason::none) matcher_.amend_stop(index, to, by);
    return why;
}

reject_reason partition::check_more(order_index index, const stop_change& to,
                                    session_id by) noexcept {
    const order& old = venue_.memory.orders[index];
    const advanced_terms& terms = venue_.memory.advanced[index];
    const holding& held = venue_.holdings[old.holding];
    const market& in = venue_.markets[held.market];
    const bool at_market = is_at_market(terms.type);
    if (at_market && !is_protected(in.terms)) return reject_reason::no_price_protection;
    const price_ticks valued_at =
        at_market ? price_at_market(in.terms, old.side, to.trigger).valued_at : to.price;
    reject_reason why = check_value(in.terms, {old.side, valued_at, to.quantity});
    if (why != reject_reason::none) return why;
    why = check_limits(account_of(by), held,
                       {old.side, to.quantity, std::int64_t{to.quantity} - old.open, 0});
    if (why != reject_reason::none) return why;
    if (to.trigger != terms.trigger && has_passed(in.day, old.side, to.trigger))
        return reject_reason::trigger_passed;
    return in.stops.has_room(venue_.memory, old.side, to.trigger) ? reject_reason::none
                                                                  : reject_reason::at_capacity;
}

// ---------------------------------------------------------------------------------------------
// Last days
// ---------------------------------------------------------------------------------------------

bool partition::end_some_orders() noexcept {
    while (dated_ != 0) {
        if (work_.spent()) return false;
        const order_index each = dated_;
        const advanced_terms& terms = venue_.memory.advanced[each];
        const timestamp_ns over = end_of_expiry(terms.expiry_yyyymmdd);
        dated_ = terms.dated_next;
        work_.spend(now_ >= over ? work_of_cancel : work_of_look);
        if (now_ >= over) matcher_.cancel(each, cancel_reason::expired, request_name{});
        else venue_.next_expiry = std::min(venue_.next_expiry, over);
    }
    stage_ = stage::idle;
    return true;
}

}  // namespace exchange
