// SPDX-License-Identifier: BSL-1.0
//
// The model, continued: an order that becomes another one.
#include <exchange/tests/support/model.hpp>

#include <algorithm>

namespace exchange::testing {

void model::handle(const amend_order& it) {
    const reject_reason why = why_not(it);
    if (why != reject_reason::none) refuse(it, it.target.id, instrument_id::none, why);
}

reject_reason model::why_not(const amend_order& it) {
    using enum reject_reason;
    if (const auto why = why_no_message(it.session, it.client_seq, model_message::entry);
        why != none) {
        return why;
    }
    const std::vector<order_id> found = find(it.session, it.target);
    if (found.empty()) return unknown_order;
    model_order& old = orders_.at(found.back());
    const model_market& in = markets_.at(old.terms.instrument);
    if (old.is_quote) return part_of_quote;
    if (const auto why = why_no_market(old.terms.instrument); why != none) return why;
    if (old.waits) return change_stop(old, {old.trigger, it.price, it.quantity}, asked_by(it));
    // In 64 bits: what was executed and what is open may have come from different quantities.
    const std::uint64_t all = std::uint64_t{old.executed} + old.open;
    const bool only_less = it.price == old.terms.price && it.quantity <= all;
    if (!only_less) {
        if (old.terms.type == order_type::market) return invalid_combination;
        if (const auto why = why_no_price(in, it.price); why != none) return why;
    }
    if (const auto why = why_no_quantity(in, it.quantity); why != none) return why;
    if (it.quantity <= old.executed) {
        cancel(old.id, cancel_reason::amended_below_executed, asked_by(it));
        return none;
    }
    const contracts open = it.quantity - old.executed;
    if (only_less) {
        lessen(old, open, amend_reason::requested, asked_by(it));
        return none;
    }
    if (const auto why = why_no_value(in, old.terms.side, it.price, it.quantity); why != none) {
        return why;
    }
    const std::int64_t more = static_cast<std::int64_t>(open) - old.open;
    if (const auto why = why_no_limits(account_of(it.session), old.terms.instrument, old.terms.side,
                                       it.quantity, more, 0);
        why != none) {
        return why;
    }
    const bool buys = old.terms.side == order_side::buy;
    const model_side& others = buys ? in.sells : in.buys;
    const bool trades = !others.empty() && (buys ? others.begin()->first <= it.price
                                                 : others.rbegin()->first >= it.price);
    if (old.terms.instruction == execution_instruction::post_only && trades) return would_trade;
    if (!has_room(old.terms.instrument, old.terms.side, it.price)) return at_capacity;
    change(old, it);
    return none;
}

// What is hidden goes first, and the public hears only of what it could see.
void model::lessen(model_order& it, contracts open, amend_reason reason, model_request by) {
    const contracts before = shown_of(it);
    touch(it.terms.instrument);
    it.open = open;
    it.shown = std::min(it.shown, open);
    say_amended(it, amend_priority::kept, reason, by);
    if (it.display != 0 && shown_of(it) == before) return;
    say_book(it, book_action::modify);
    say_level(it);
    say_top(it.terms.instrument);
}

void model::change(model_order& old, const amend_order& how) {
    model_order was = old;
    model_order it = old;
    it.terms.price = how.price;
    it.open = how.quantity - old.executed;
    // It stays in the list of orders, though not in the book: it keeps its place among its account's.
    take_from_level(was);
    say_amended(it, amend_priority::lost, amend_reason::requested, asked_by(how));
    say_book(was, book_action::erase);
    say_level(was);
    trade_on_arrival(it, 0);
    if (it.open == 0) {
        forget(it);
    } else {
        put(it);
        say_book(it, book_action::add);
        say_level(it);
    }
    say_top(it.terms.instrument);
}

}  // namespace exchange::testing
