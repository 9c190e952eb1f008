// SPDX-License-Identifier: BSL-1.0
//
// The model, continued: cancels, of one order and of many, and quotes, which replace each other.
#include <exchange/tests/support/model.hpp>

namespace exchange::testing {

void model::cancel(order_id id, cancel_reason reason, model_request by) {
    const model_order it = orders_.at(id);
    if (it.waits) {
        markets_.at(it.terms.instrument).stops.remove(id);
        forget(it);
        return say_cancelled(it, it.open, reason, by);
    }
    take(it);
    say_cancelled(it, it.open, reason, by);
    say_book(it, book_action::erase);
    say_level(it);
    say_top(it.terms.instrument);
}

std::size_t model::cancel_where(const std::function<bool(const model_order&)>& wanted,
                                cancel_reason reason, model_request by) {
    std::vector<order_id> found;
    for (const auto& [id, it] : orders_) {
        if (wanted(it)) found.push_back(id);
    }
    for (const order_id id : found) cancel(id, reason, by);
    return found.size();
}

// Whatever rests of it, the bid first.
std::size_t model::cancel_quote(account_id whose, instrument_id in, model_request by) {
    std::size_t cancelled = 0;
    for (const order_side side : {order_side::buy, order_side::sell}) {
        const order_id old = quote_of(whose, in, side);
        if (old == order_id::none) continue;
        cancel(old, cancel_reason::requested, by);
        ++cancelled;
    }
    return cancelled;
}

void model::handle(const cancel_order& it) {
    const reject_reason why = why_not(it);
    if (why != reject_reason::none) refuse(it, it.target.id, instrument_id::none, why);
}

reject_reason model::why_not(const cancel_order& it) {
    const auto why = why_no_message(it.session, it.client_seq, model_message::cancel);
    if (why != reject_reason::none) return why;
    const std::vector<order_id> found = find(it.session, it.target);
    if (found.empty()) return reject_reason::unknown_order;
    const model_order& target = orders_.at(found.front());
    if (target.is_quote) cancel_quote(target.account, target.terms.instrument, asked_by(it));
    else cancel(target.id, cancel_reason::requested, asked_by(it));
    return reject_reason::none;
}

void model::handle(const cancel_orders& it) {
    const reject_reason why = why_not(it);
    if (why != reject_reason::none) refuse(it, order_id::none, it.instrument, why);
}

reject_reason model::why_not(const cancel_orders& it) {
    const auto why = why_no_message(it.session, it.client_seq, model_message::cancel);
    if (why != reject_reason::none) return why;
    if (number(it.sides) > 2) return reject_reason::invalid_field;
    if (it.account != sessions_.at(it.session).terms.account) return reject_reason::not_permitted;
    const bool all = it.instrument == instrument_id::none;
    if (!all && !markets_.contains(it.instrument)) return reject_reason::unknown_instrument;
    const auto wanted = [&](const model_order& each) {
        if (each.account != it.account) return false;
        if (!all && each.terms.instrument != it.instrument) return false;
        if (it.sides == side_filter::buy) return each.terms.side == order_side::buy;
        if (it.sides == side_filter::sell) return each.terms.side == order_side::sell;
        return true;
    };
    const std::size_t cancelled = cancel_where(wanted, cancel_reason::mass_cancel, asked_by(it));
    return cancelled == 0 ? reject_reason::nothing_to_cancel : reject_reason::none;
}

reject_reason model::withdraw(const enter_quote& it) {
    if (!markets_.contains(it.instrument)) return reject_reason::unknown_instrument;
    const account_id whose = sessions_.at(it.session).terms.account;
    const std::size_t cancelled = cancel_quote(whose, it.instrument, asked_by(it));
    return cancelled == 0 ? reject_reason::nothing_to_cancel : reject_reason::none;
}

void model::handle(const enter_quote& it) {
    const reject_reason why = why_not(it);
    if (why != reject_reason::none) refuse(it, order_id::none, it.instrument, why);
}

reject_reason model::why_not(const enter_quote& it) {
    using enum reject_reason;
    const bool quotes = it.bid_quantity != 0 || it.ask_quantity != 0;
    const model_message what = quotes ? model_message::entry : model_message::cancel;
    if (const auto why = why_no_message(it.session, it.client_seq, what); why != none) return why;
    if (number(it.self_trade) > 5) return invalid_field;
    if (!quotes) return withdraw(it);
    if (const auto why = why_no_market(it.instrument); why != none) return why;
    const model_market& in = markets_.at(it.instrument);
    model_order bid{}, ask{};
    bid.terms = {it.session,
                 it.client_seq,
                 it.instrument,
                 order_side::buy,
                 order_type::limit,
                 time_in_force::day,
                 execution_instruction::none,
                 it.self_trade,
                 it.bid_price,
                 it.bid_quantity};
    ask.terms = bid.terms;
    ask.terms.side = order_side::sell;
    ask.terms.price = it.ask_price;
    ask.terms.quantity = it.ask_quantity;
    for (const model_order* each : {&bid, &ask}) {
        const enter_order& terms = each->terms;
        if (terms.quantity == 0) continue;
        if (const auto why = why_no_price(in, terms.price); why != none) return why;
        if (const auto why = why_no_quantity(in, terms.quantity); why != none) return why;
        const auto why = why_no_value(in, terms.side, terms.price, terms.quantity);
        if (why != none) return why;
    }
    const bool two = it.bid_quantity != 0 && it.ask_quantity != 0;
    if (two && it.bid_price >= it.ask_price) return invalid_combination;

    const model_account& whose = account_of(it.session);
    if (is_struck(whose.terms.account, it.instrument)) return protection_struck;
    const order_id old[2] = {quote_of(whose.terms.account, it.instrument, order_side::buy),
                             quote_of(whose.terms.account, it.instrument, order_side::sell)};
    std::int64_t more_orders = 0;
    for (const order_id id : old) more_orders -= id != order_id::none;
    more_orders += (it.bid_quantity != 0) + (it.ask_quantity != 0);
    for (const model_order* each : {&bid, &ask}) {
        if (each->terms.quantity == 0) continue;
        const order_id goes = old[number(each->terms.side)];
        const std::int64_t less = goes == order_id::none ? 0 : orders_.at(goes).open;
        const auto why = why_no_limits(whose, it.instrument, each->terms.side, each->terms.quantity,
                                       each->terms.quantity - less, more_orders);
        if (why != none) return why;
    }
    // Room for two new orders at two new prices, whatever is there already.
    if (orders_.size() + 2 > limits_.orders_max ||
        !has_holding(whose.terms.account, it.instrument) ||
        chunks_in_use() + 2 > limits_.level_chunks_max || far_nodes_left_ < 14) {
        return at_capacity;
    }
    holdings_.insert({whose.terms.account, it.instrument});

    for (const model_order* each : {&bid, &ask}) {
        const order_id id = old[number(each->terms.side)];
        if (id == order_id::none) continue;
        cancel(id,
               each->terms.quantity == 0 ? cancel_reason::requested : cancel_reason::quote_replaced,
               asked_by(it));
    }
    for (model_order* each : {&bid, &ask}) {
        if (each->terms.quantity == 0) continue;
        each->account = whose.terms.account;
        each->is_quote = true;
        if (it.self_trade == self_trade_action::account_default) {
            each->terms.self_trade = whose.terms.self_trade;
        }
        arrive(*each);
    }
    return none;
}

}  // namespace exchange::testing
