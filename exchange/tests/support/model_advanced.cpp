// SPDX-License-Identifier: BSL-1.0
//
// The model, continued: orders that wait for a price, show a part of themselves, want a minimum, or end with
// a day.
#include <exchange/tests/support/model.hpp>

#include <exchange/tests/support/model_calendar.hpp>

#include <cstdlib>

namespace exchange::testing {
namespace {

using enum reject_reason;

bool at_once(time_in_force it) {
    return it == time_in_force::immediate_or_cancel || it == time_in_force::fill_or_kill;
}

bool stops(order_type it) { return it == order_type::stop || it == order_type::stop_limit; }

// At the market, sooner or later.
bool has_no_limit(order_type it) { return it == order_type::market || it == order_type::stop; }

bool reaches(price_ticks price, const model_order& stop) {
    return stop.terms.side == order_side::buy ? price >= stop.trigger : price <= stop.trigger;
}

}  // namespace

// ---------------------------------------------------------------------------------------------
// Entering
// ---------------------------------------------------------------------------------------------

void model::handle(const enter_advanced_order& it) {
    const reject_reason why = why_not(it);
    if (why != none) refuse(it, order_id::none, it.instrument, why);
}

reject_reason model::why_no_terms(const enter_advanced_order& it) const {
    if (!within(it.side, order_side::buy, order_side::sell) ||
        !within(it.type, order_type::limit, order_type::stop_limit) ||
        !within(it.tif, time_in_force::day, time_in_force::good_till_date) ||
        !within(it.instruction, execution_instruction::none, execution_instruction::post_only) ||
        !within(it.self_trade, self_trade_action::account_default, self_trade_action::allow)) {
        return invalid_field;
    }
    const bool post_only = it.instruction == execution_instruction::post_only;
    const bool goes = at_once(it.tif) || it.type == order_type::market;
    const bool dated = it.tif == time_in_force::good_till_date;
    if (stops(it.type) && (at_once(it.tif) || post_only)) return invalid_combination;
    if (post_only && (goes || it.minimum_quantity > 0)) return invalid_combination;
    if (dated && (it.expiry_yyyymmdd == 0 || it.type == order_type::market))
        return invalid_combination;
    if (!dated && it.expiry_yyyymmdd != 0) return invalid_combination;
    if (it.display_quantity > 0 &&
        (goes || has_no_limit(it.type) || it.display_quantity >= it.quantity)) {
        return invalid_combination;
    }
    if (it.minimum_quantity > it.quantity) return invalid_combination;
    if (it.minimum_quantity > 0 && it.tif == time_in_force::fill_or_kill)
        return invalid_combination;
    if (!dated) return none;
    const bool comes = is_date(it.expiry_yyyymmdd) && end_of_day(it.expiry_yyyymmdd) > now_;
    return comes ? none : invalid_expiry;
}

reject_reason model::why_not(const enter_advanced_order& it) {
    if (const auto why = why_no_message(it.session, it.client_seq, model_message::entry);
        why != none) {
        return why;
    }
    if (const auto why = why_no_terms(it); why != none) return why;
    if (const auto why = why_no_market(it.instrument); why != none) return why;

    const model_market& in = markets_.at(it.instrument);
    const bool buys = it.side == order_side::buy;
    const bool waits = stops(it.type);
    const bool collects = is_in_auction(in);
    const bool post_only = it.instruction == execution_instruction::post_only;
    if (collects && (post_only || at_once(it.tif) || (it.minimum_quantity > 0 && !waits)))
        return not_in_auction;
    const bool rests = collects || (!at_once(it.tif) && it.type != order_type::market);
    price_ticks limit = it.price;
    price_ticks valued = it.price;
    if (it.type == order_type::market && collects) {
        const std::optional<price_ticks> bound = bound_at_market(in, it.side);
        if (!bound) return no_price_protection;
        limit = *bound;
        valued = in.terms.settlement_price + (buys ? in.terms.collar : -in.terms.collar);
    } else if (has_no_limit(it.type)) {
        const std::optional<price_ticks> bound = market_limit(in, it.side);
        if (!bound) return no_price_protection;
        limit = valued = *bound;
        const price_ticks best = best_of(in, opposite(it.side)).value_or(*bound);
        if (in.terms.collar == 0 && std::abs(best) > std::abs(valued)) valued = best;
    } else if (const auto why = why_no_price(in, it.price); why != none) {
        return why;
    }
    if (waits) {
        if (const auto why = why_no_trigger(in, it.trigger_price); why != none) return why;
        if (has_no_limit(it.type)) valued = value_at_trigger(in, it.side, it.trigger_price);
    }
    if (const auto why = why_no_quantity(in, it.quantity); why != none) return why;
    for (const contracts part : {it.display_quantity, it.minimum_quantity}) {
        if (part % product_of(in).lot != 0) return invalid_quantity;
    }
    if (const auto why = why_no_value(in, it.side, valued, it.quantity); why != none) return why;
    const model_side& others = buys ? in.sells : in.buys;
    if (!rests && others.empty() && in.terms.lone_orders == lone_order_policy::reject)
        return no_counterparty;
    const model_account& whose = account_of(it.session);
    if (const auto why =
            why_no_limits(whose, it.instrument, it.side, it.quantity, it.quantity, rests ? 1 : 0);
        why != none) {
        return why;
    }
    const bool trades = !others.empty() && (buys ? others.begin()->first <= it.price
                                                 : others.rbegin()->first >= it.price);
    if (post_only && trades) return would_trade;
    if (waits && is_passed(in, it.side, it.trigger_price)) return trigger_passed;
    if (orders_.size() == limits_.orders_max || !has_holding(whose.terms.account, it.instrument))
        return at_capacity;
    if (waits ? !has_stop_room(it.instrument, it.side, it.trigger_price)
              : rests && !has_room(it.instrument, it.side, limit)) {
        return at_capacity;
    }

    model_order made{};
    const bool at_market = it.type == order_type::market;
    made.terms = {it.session,
                  it.client_seq,
                  it.instrument,
                  it.side,
                  at_market ? order_type::market : order_type::limit,
                  at_market && !at_once(it.tif) ? time_in_force::immediate_or_cancel : it.tif,
                  it.instruction,
                  it.self_trade,
                  limit,
                  it.quantity};
    if (it.type == order_type::stop) made.terms.price = it.trigger_price;
    if (it.self_trade == self_trade_action::account_default)
        made.terms.self_trade = whose.terms.self_trade;
    made.account = whose.terms.account;
    made.advanced = true;
    made.type = it.type;
    made.trigger = waits ? it.trigger_price : 0;
    made.display = it.display_quantity;
    made.minimum = it.minimum_quantity;
    made.last_day = it.expiry_yyyymmdd;
    made.waits = waits;
    arrive(made);
    return none;
}

reject_reason model::why_no_trigger(const model_market& in, price_ticks trigger) const {
    // As a price, but for the collar: it may have moved by then.
    model_market anywhere;
    anywhere.terms = in.terms;
    anywhere.terms.collar = 0;
    return why_no_price(anywhere, trigger);
}

bool model::is_passed(const model_market& in, order_side side, price_ticks trigger) const {
    if (in.day.trades == 0) return false;
    return side == order_side::buy ? trigger <= in.day.last : trigger >= in.day.last;
}

price_ticks model::value_at_trigger(const model_market& in, order_side side,
                                    price_ticks trigger) const {
    const price_ticks limit = market_limit(in, side, trigger).value();
    const bool at_trigger = in.terms.collar == 0 && std::abs(trigger) > std::abs(limit);
    return at_trigger ? trigger : limit;
}

// ---------------------------------------------------------------------------------------------
// Waiting
// ---------------------------------------------------------------------------------------------

void model::wait_for_trigger(const model_order& it) {
    orders_[it.id] = it;
    by_name_.insert({{it.terms.session, it.terms.client_seq}, it.id});
    by_account_[it.account].insert(it.id);
    markets_.at(it.terms.instrument).stops.push_back(it.id);
    say(stop_entered{it.id, it.terms.price, it.terms.client_seq, it.terms.instrument, it.account,
                     it.open, it.terms.session, it.terms.side, it.terms.tif});
}

std::vector<order_id> model::stops_of(instrument_id in, order_side side) const {
    std::vector<order_id> found;
    const auto at = markets_.find(in);
    if (at == markets_.end()) return found;
    std::multimap<price_ticks, order_id> sorted;  // At one trigger in the order in which they came.
    for (const order_id id : at->second.stops) {
        const model_order& it = orders_.at(id);
        if (it.terms.side != side) continue;
        sorted.insert({side == order_side::buy ? it.trigger : -it.trigger, id});
    }
    for (const auto& [trigger, id] : sorted) found.push_back(id);
    return found;
}

std::optional<order_id> model::next_reached() const {
    if (printed_.empty()) return std::nullopt;
    const instrument_id in = printed_.front().first;
    if (markets_.at(in).stops.empty()) return std::nullopt;
    for (const order_side side : {order_side::buy, order_side::sell}) {
        for (const order_id id : stops_of(in, side)) {
            for (const auto& [unused, price] : printed_) {
                if (reaches(price, orders_.at(id))) return id;
            }
        }
    }
    return std::nullopt;
}

// What trades have struck and reached, until nothing is.
void model::follow_trading() {
    withdraw_struck();
    while (const std::optional<order_id> next = next_reached()) {
        trigger(*next);
        withdraw_struck();
    }
    printed_.clear();
}

void model::trigger(order_id id) {
    model_order it = orders_.at(id);
    model_market& in = markets_.at(it.terms.instrument);
    in.stops.remove(id);
    it.waits = false;
    cancel_reason gone{};
    const bool at_market = it.type == order_type::stop;
    if (at_market) {
        it.terms.type = order_type::market;
        it.terms.tif = time_in_force::immediate_or_cancel;
        const std::optional<price_ticks> limit = bound_at_market(in, it.terms.side);
        it.terms.price = limit.value_or(it.terms.price);
        if (!limit) gone = cancel_reason::no_price_protection;
    }
    const bool rests = !at_market || is_in_auction(in);
    if (gone == cancel_reason{} && rests &&
        !has_room(it.terms.instrument, it.terms.side, it.terms.price)) {
        gone = cancel_reason::at_capacity;
    }
    say(stop_triggered{it.id, it.terms.price, it.terms.client_seq, it.terms.instrument, it.account,
                       it.open, it.terms.session, it.terms.side});
    if (gone == cancel_reason{}) return go_its_way(it);
    say_cancelled(it, it.open, gone);
    forget(it);
}

// ---------------------------------------------------------------------------------------------
// Amending what waits
// ---------------------------------------------------------------------------------------------

void model::handle(const amend_stop& it) {
    const reject_reason why = why_not(it);
    if (why != none) refuse(it, it.target.id, instrument_id::none, why);
}

reject_reason model::why_not(const amend_stop& it) {
    if (const auto why = why_no_message(it.session, it.client_seq, model_message::entry);
        why != none) {
        return why;
    }
    const std::vector<order_id> found = find(it.session, it.target);
    if (found.empty()) return unknown_order;
    model_order& old = orders_.at(found.back());
    if (!old.waits) return not_waiting;
    if (const auto why = why_no_market(old.terms.instrument); why != none) return why;
    return change_stop(old, {it.trigger_price, it.price, it.quantity}, asked_by(it));
}

reject_reason model::change_stop(model_order& old, const stop_wish& wish, model_request by) {
    const model_market& in = markets_.at(old.terms.instrument);
    const bool at_market = old.type == order_type::stop;
    stop_wish to = wish;
    if (at_market) to.price = to.trigger;
    const bool same = to.trigger == old.trigger && to.price == old.terms.price;
    const bool only_less = same && to.quantity <= old.open;
    if (!only_less && !at_market) {
        if (const auto why = why_no_price(in, to.price); why != none) return why;
    }
    if (!only_less) {
        if (const auto why = why_no_trigger(in, to.trigger); why != none) return why;
    }
    if (const auto why = why_no_quantity(in, to.quantity); why != none) return why;
    if (to.quantity < old.minimum) return invalid_combination;
    if (!only_less) {
        if (const auto why = why_not_more(old, to, account_of(by.session)); why != none) return why;
    }

    const bool moves = to.trigger != old.trigger;
    old.trigger = to.trigger;
    old.terms.price = to.price;
    old.open = to.quantity;
    if (!only_less) {
        std::list<order_id>& all = markets_.at(old.terms.instrument).stops;
        all.remove(old.id);
        all.push_back(old.id);
    }
    say_amended(old, only_less ? amend_priority::kept : amend_priority::lost,
                amend_reason::requested, by);
    if (moves) {
        say(trigger_amended{old.id, old.trigger, old.terms.client_seq, by.client_seq,
                            old.terms.instrument, old.account, old.terms.session, by.session,
                            old.terms.side});
    }
    return none;
}

reject_reason model::why_not_more(const model_order& old, const stop_wish& to,
                                  const model_account& whose) const {
    const model_market& in = markets_.at(old.terms.instrument);
    const order_side side = old.terms.side;
    const bool at_market = old.type == order_type::stop;
    if (at_market && !market_limit(in, side)) return no_price_protection;
    const price_ticks valued = at_market ? value_at_trigger(in, side, to.trigger) : to.price;
    if (const auto why = why_no_value(in, side, valued, to.quantity); why != none) return why;
    const std::int64_t more = static_cast<std::int64_t>(to.quantity) - old.open;
    if (const auto why = why_no_limits(whose, old.terms.instrument, side, to.quantity, more, 0);
        why != none) {
        return why;
    }
    if (to.trigger != old.trigger && is_passed(in, side, to.trigger)) return trigger_passed;
    return has_stop_room(old.terms.instrument, side, to.trigger) ? none : at_capacity;
}

// ---------------------------------------------------------------------------------------------
// Showing
// ---------------------------------------------------------------------------------------------

// All that it showed is filled: the next part stands last at its price.
void model::show_more(model_order& it) {
    put(it);
    say_book(it, book_action::add);
    say_level(it);
    say_top(it.terms.instrument);
}

}  // namespace exchange::testing
