// SPDX-License-Identifier: BSL-1.0
//
// See the header. Written from the rules and not from the core; slow on purpose where that is simpler.
#include <exchange/tests/support/model.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace exchange::testing {
namespace {

using wide =
    long double;  // 64 bits of mantissa: enough to notice that a product needs more than 63.

bool at_once(time_in_force it) {
    return it == time_in_force::immediate_or_cancel || it == time_in_force::fill_or_kill;
}

template <class Enum>
bool within(Enum it, Enum first, Enum last) {
    return number(it) >= number(first) && number(it) <= number(last);
}

bool is_price(price_ticks it) { return it >= -price_ticks_max && it <= price_ticks_max; }

}  // namespace

template <class Message>
void model::say(const Message& it) {
    event made{};
    made.kind = Message::kind;
    std::memcpy(static_cast<void*>(&made), &it,
                sizeof it);  // All alternatives begin where it begins.
    said_.push_back(made);
}

std::vector<event> model::apply(timestamp_ns now, const command& what) {
    said_.clear();
    now_ = now;
    std::visit([this](const auto& it) { handle(it); }, what);
    return said_;
}

// ---------------------------------------------------------------------------------------------
// Looking things up
// ---------------------------------------------------------------------------------------------

const model_account& model::account_of(session_id from) const {
    return accounts_.at(sessions_.at(from).terms.account);
}

model_side& model::side_of(const model_order& it) {
    model_market& in = markets_.at(it.terms.instrument);
    return it.terms.side == order_side::buy ? in.buys : in.sells;
}

void model::put(const model_order& it) {
    side_of(it)[it.terms.price].push_back(it.id);
    orders_[it.id] = it;
}

void model::take(const model_order& it) {
    model_side& side = side_of(it);
    side.at(it.terms.price).remove(it.id);
    if (side.at(it.terms.price).empty()) side.erase(it.terms.price);
    orders_.erase(it.id);
}

std::vector<order_id> model::find(session_id from, const order_reference& target) const {
    std::vector<order_id> found;
    if (target.id != order_id::none) {
        const auto at = orders_.find(target.id);
        if (at != orders_.end() && at->second.account == sessions_.at(from).terms.account) {
            found.push_back(target.id);
        }
        return found;
    }
    for (const auto& [id, it] : orders_) {
        if (it.terms.session == from && it.terms.client_seq == target.client_seq) {
            found.push_back(id);
        }
    }
    return found;
}

order_id model::quote_of(account_id whose, instrument_id in, order_side side) const {
    for (const auto& [id, it] : orders_) {
        if (it.is_quote && it.account == whose && it.terms.instrument == in &&
            it.terms.side == side) {
            return id;
        }
    }
    return order_id::none;
}

// ---------------------------------------------------------------------------------------------
// Why not
// ---------------------------------------------------------------------------------------------

reject_reason model::why_no_message(session_id from, client_sequence seq, bool is_entry) {
    const auto at = sessions_.find(from);
    if (at == sessions_.end()) return reject_reason::unknown_session;
    if (seq <= at->second.last) return reject_reason::duplicate_client_sequence;
    at->second.last = seq;
    if (!is_entry) return reject_reason::none;
    model_account& whose = accounts_.at(at->second.terms.account);
    if (whose.terms.messages_per_second_max != 0) {
        if (now_ >= whose.second_begin + 1'000'000'000) {
            whose.second_begin = now_;
            whose.messages = 0;
        }
        if (++whose.messages > whose.terms.messages_per_second_max) {
            return reject_reason::message_rate;
        }
    }
    if (whose.state == account_state::blocked) return reject_reason::account_blocked;
    return reject_reason::none;
}

reject_reason model::why_no_market(instrument_id in) const {
    const auto at = markets_.find(in);
    if (at == markets_.end()) return reject_reason::unknown_instrument;
    if (at->second.phase == market_phase::closed) return reject_reason::market_closed;
    if (at->second.phase == market_phase::halted) return reject_reason::market_halted;
    return reject_reason::none;
}

reject_reason model::why_no_price(const model_market& in, price_ticks price) const {
    if (!is_price(price)) return reject_reason::invalid_price;
    if (in.product.bands > 0) {
        price_ticks step = in.product.ticks[0].step;
        for (std::uint32_t each = 1; each < in.product.bands; ++each) {
            if (price >= in.product.ticks[each].from) step = in.product.ticks[each].step;
        }
        if (price % step != 0) return reject_reason::price_off_tick;
    }
    if (in.terms.collar > 0 && std::abs(price - in.terms.settlement_price) > in.terms.collar) {
        return reject_reason::price_outside_collar;
    }
    return reject_reason::none;
}

reject_reason model::why_no_quantity(const model_market& in, contracts quantity) const {
    if (quantity == 0 || quantity % in.product.lot != 0) return reject_reason::invalid_quantity;
    if (in.terms.order_quantity_max > 0 && quantity > in.terms.order_quantity_max) {
        return reject_reason::quantity_over_max;
    }
    return reject_reason::none;
}

reject_reason model::why_no_value(const model_market& in, price_ticks price,
                                  contracts quantity) const {
    const wide value = static_cast<wide>(std::abs(price)) * quantity * in.product.multiplier;
    const bool fits = value <= static_cast<wide>(INT64_MAX);
    if (!fits) return reject_reason::value_over_max;
    if (in.terms.order_value_max > 0 && value > static_cast<wide>(in.terms.order_value_max)) {
        return reject_reason::value_over_max;
    }
    return reject_reason::none;
}

reject_reason model::why_no_limits(const model_account& whose, instrument_id in, order_side side,
                                   contracts quantity, std::int64_t more,
                                   std::int64_t more_orders) const {
    const define_account& terms = whose.terms;
    if (terms.order_quantity_max > 0 && quantity > terms.order_quantity_max) {
        return reject_reason::quantity_over_max;
    }
    std::int64_t resting = 0, open = 0;
    for (const auto& [id, it] : orders_) {
        if (it.account != terms.account) continue;
        ++resting;
        if (it.terms.instrument == in && it.terms.side == side) open += it.open;
    }
    if (terms.open_orders_max > 0 && more_orders > 0 &&
        resting + more_orders > terms.open_orders_max) {
        return reject_reason::open_orders_over_max;
    }
    const auto at = whose.position.find(in);
    const std::int64_t position = at == whose.position.end() ? 0 : at->second;
    const std::int64_t away = side == order_side::buy ? position : -position;
    if (terms.position_max > 0 && more > 0 && away + open + more > terms.position_max) {
        return reject_reason::position_over_max;
    }
    return reject_reason::none;
}

// ---------------------------------------------------------------------------------------------
// Orders
// ---------------------------------------------------------------------------------------------

template <class Command>
void model::refuse(const Command& it, order_id order, instrument_id in, reject_reason why) {
    say(order_rejected{order, in, it.client_seq, it.session, it.kind, why});
}

void model::handle(const enter_order& it) {
    const reject_reason why = why_not(it);
    if (why != reject_reason::none) refuse(it, order_id::none, it.instrument, why);
}

reject_reason model::why_not(const enter_order& it) {
    using enum reject_reason;
    if (const auto why = why_no_message(it.session, it.client_seq, true); why != none) return why;
    if (!within(it.side, order_side::buy, order_side::sell) ||
        !within(it.type, order_type::limit, order_type::market) ||
        !within(it.tif, time_in_force::day, time_in_force::fill_or_kill) ||
        !within(it.instruction, execution_instruction::none, execution_instruction::post_only) ||
        !within(it.self_trade, self_trade_action::account_default, self_trade_action::decrement)) {
        return invalid_field;
    }
    model_order made{};
    made.terms = it;
    const bool at_market = it.type == order_type::market;
    if (at_market && !at_once(it.tif)) made.terms.tif = time_in_force::immediate_or_cancel;
    const bool waits = !at_once(made.terms.tif);
    const bool post_only = it.instruction == execution_instruction::post_only;
    if (post_only && !waits) return invalid_combination;
    if (const auto why = why_no_market(it.instrument); why != none) return why;

    const model_market& in = markets_.at(it.instrument);
    const bool buys = it.side == order_side::buy;
    const price_ticks far = in.terms.collar > 0 ? in.terms.settlement_price +
                                                      (buys ? in.terms.collar : -in.terms.collar)
                                                : (buys ? price_ticks_max : -price_ticks_max);
    if (at_market) made.terms.price = far;
    else if (const auto why = why_no_price(in, it.price); why != none) return why;
    if (const auto why = why_no_quantity(in, it.quantity); why != none) return why;
    if (!at_market || in.terms.collar > 0 || in.terms.order_value_max > 0) {
        const auto why = why_no_value(in, made.terms.price, it.quantity);
        if (why != none) return why;
    }
    const model_side& others = buys ? in.sells : in.buys;
    if (!waits && others.empty() && in.terms.lone_orders == lone_order_policy::reject) {
        return no_counterparty;
    }
    const model_account& whose = account_of(it.session);
    if (const auto why =
            why_no_limits(whose, it.instrument, it.side, it.quantity, it.quantity, waits ? 1 : 0);
        why != none) {
        return why;
    }
    const bool trades = !others.empty() && (buys ? others.begin()->first <= it.price
                                                 : others.rbegin()->first >= it.price);
    if (post_only && trades) return would_trade;
    if (orders_.size() == limits_.orders_max) return at_capacity;

    made.account = whose.terms.account;
    if (it.self_trade == self_trade_action::account_default) {
        made.terms.self_trade = whose.terms.self_trade;
    }
    arrive(made);
    return none;
}

void model::arrive(model_order it) {
    it.id = order_id{++last_order_};
    it.open = it.terms.quantity;
    it.executed = 0;
    const bool kill = it.terms.tif == time_in_force::fill_or_kill;
    if (!kill || can_fill(it)) trade_against_book(it);
    if (it.open == 0) return;
    if (at_once(it.terms.tif)) {
        say_cancelled(it, it.open,
                      kill ? cancel_reason::fill_or_kill : cancel_reason::immediate_or_cancel,
                      client_sequence::none);
        return;
    }
    put(it);
    say(order_entered{it.id, it.terms.price, it.terms.instrument, it.account, it.terms.client_seq,
                      it.open, it.executed, it.terms.session, it.terms.side, it.terms.tif});
    say_book(it, book_action::add);
    say_level(it);
    say_top(it.terms.instrument);
}

bool model::can_fill(const model_order& it) const {
    const model_market& in = markets_.at(it.terms.instrument);
    std::vector<order_id> queue;
    if (it.terms.side == order_side::buy) {
        for (const auto& [price, ids] : in.sells) {
            if (price <= it.terms.price) queue.insert(queue.end(), ids.begin(), ids.end());
        }
    } else {
        for (auto at = in.buys.rbegin(); at != in.buys.rend(); ++at) {
            if (at->first >= it.terms.price) {
                queue.insert(queue.end(), at->second.begin(), at->second.end());
            }
        }
    }
    const self_trade_group group = accounts_.at(it.account).terms.group;
    std::uint64_t found = 0;
    for (const order_id id : queue) {
        const model_order& other = orders_.at(id);
        const bool own =
            group != self_trade_group::none && accounts_.at(other.account).terms.group == group;
        if (!own) found += other.open;
        else if (it.terms.self_trade != self_trade_action::cancel_resting) break;
    }
    return found >= it.open;
}

void model::trade_against_book(model_order& it) {
    const bool buys = it.terms.side == order_side::buy;
    while (it.open > 0) {
        model_market& in = markets_.at(it.terms.instrument);
        model_side& others = buys ? in.sells : in.buys;
        if (others.empty()) return;
        const auto best = buys ? others.begin() : std::prev(others.end());
        if (buys ? best->first > it.terms.price : best->first < it.terms.price) return;
        const order_id first = best->second.front();
        const self_trade_group own = accounts_.at(it.account).terms.group;
        const bool same = own != self_trade_group::none &&
                          accounts_.at(orders_.at(first).account).terms.group == own;
        if (same) meet_own(it, first);
        else fill(it, first);
    }
}

void model::meet_own(model_order& it, order_id resting) {
    const self_trade_action how = it.terms.self_trade;
    if (how == self_trade_action::decrement) {
        model_order& other = orders_.at(resting);
        const contracts less = std::min(it.open, other.open);
        if (other.open == less) {
            cancel(resting, cancel_reason::self_trade, client_sequence::none);
        } else {
            other.open -= less;
            say_amended(other, amend_priority::kept, amend_reason::self_trade,
                        client_sequence::none);
            say_book(other, book_action::modify);
            say_level(other);
            say_top(other.terms.instrument);
        }
        if (it.open == less) {
            say_cancelled(it, less, cancel_reason::self_trade, client_sequence::none);
            it.open = 0;
        } else {
            it.open -= less;
            say_amended(it, amend_priority::kept, amend_reason::self_trade, client_sequence::none);
        }
        return;
    }
    if (how != self_trade_action::cancel_aggressor) {
        cancel(resting, cancel_reason::self_trade, client_sequence::none);
    }
    if (how != self_trade_action::cancel_resting) {
        say_cancelled(it, it.open, cancel_reason::self_trade, client_sequence::none);
        it.open = 0;
    }
}

void model::fill(model_order& taker, order_id resting) {
    model_order maker = orders_.at(resting);
    const contracts quantity = std::min(taker.open, maker.open);
    const std::int64_t bought =
        taker.terms.side == order_side::buy ? std::int64_t{quantity} : -std::int64_t{quantity};
    taker.open -= quantity;
    taker.executed += quantity;
    maker.open -= quantity;
    maker.executed += quantity;
    orders_.at(resting) = maker;
    accounts_.at(taker.account).position[taker.terms.instrument] += bought;
    accounts_.at(maker.account).position[taker.terms.instrument] -= bought;
    if (maker.open == 0) take(maker);
    model_market& in = markets_.at(maker.terms.instrument);
    const price_ticks price = maker.terms.price;
    in.day.open = in.day.trades == 0 ? price : in.day.open;
    in.day.high = in.day.trades == 0 ? price : std::max(in.day.high, price);
    in.day.low = in.day.trades == 0 ? price : std::min(in.day.low, price);
    in.day.last = price;
    in.day.volume += quantity;
    in.day.trades += 1;
    in.day.instrument = maker.terms.instrument;
    ++last_trade_;

    say_executed(maker, maker, quantity);
    say_executed(taker, maker, quantity);
    say(trade{trade_id{last_trade_}, price, maker.terms.instrument, quantity, taker.terms.side});
    say(volume_update{in.day.volume, maker.terms.instrument, in.day.trades});
    const bool buys = taker.terms.side == order_side::buy;
    say_captured(buys ? taker : maker, buys ? maker : taker, maker, quantity);
    say_captured(buys ? maker : taker, buys ? taker : maker, maker, quantity);
    say_book(maker, maker.open == 0 ? book_action::erase : book_action::modify);
    say_level(maker);
    say(in.day);
    say_top(maker.terms.instrument);
}

void model::handle(const amend_order& it) {
    const reject_reason why = why_not(it);
    if (why != reject_reason::none) refuse(it, it.target.id, instrument_id::none, why);
}

reject_reason model::why_not(const amend_order& it) {
    using enum reject_reason;
    if (const auto why = why_no_message(it.session, it.client_seq, true); why != none) return why;
    const std::vector<order_id> found = find(it.session, it.target);
    if (found.empty()) return unknown_order;
    model_order& old = orders_.at(found.back());
    const model_market& in = markets_.at(old.terms.instrument);
    if (const auto why = why_no_market(old.terms.instrument); why != none) return why;
    if (it.price != old.terms.price) {
        if (const auto why = why_no_price(in, it.price); why != none) return why;
    }
    if (const auto why = why_no_quantity(in, it.quantity); why != none) return why;
    if (it.quantity <= old.executed) {
        cancel(old.id, cancel_reason::amended_below_executed, it.client_seq);
        return none;
    }
    const contracts open = it.quantity - old.executed;
    if (it.price == old.terms.price && open <= old.open) {
        old.open = open;
        say_amended(old, amend_priority::kept, amend_reason::requested, it.client_seq);
        say_book(old, book_action::modify);
        say_level(old);
        say_top(old.terms.instrument);
        return none;
    }
    if (const auto why = why_no_value(in, it.price, it.quantity); why != none) return why;
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
    change(old, it);
    return none;
}

void model::change(model_order& old, const amend_order& how) {
    model_order was = old;
    model_order it = old;
    it.terms.price = how.price;
    it.open = how.quantity - old.executed;
    // It stays in the list of orders, though not in the book: it keeps its place among its account's.
    model_side& side = side_of(was);
    side.at(was.terms.price).remove(was.id);
    if (side.at(was.terms.price).empty()) side.erase(was.terms.price);
    say_amended(it, amend_priority::lost, amend_reason::requested, how.client_seq);
    say_book(was, book_action::erase);
    say_level(was);
    trade_against_book(it);
    if (it.open == 0) {
        orders_.erase(it.id);
    } else {
        put(it);
        say_book(it, book_action::add);
        say_level(it);
    }
    say_top(it.terms.instrument);
}

// ---------------------------------------------------------------------------------------------
// Cancels and quotes
// ---------------------------------------------------------------------------------------------

void model::cancel(order_id id, cancel_reason reason, client_sequence request) {
    const model_order it = orders_.at(id);
    take(it);
    say_cancelled(it, it.open, reason, request);
    say_book(it, book_action::erase);
    say_level(it);
    say_top(it.terms.instrument);
}

void model::cancel_where(auto wanted, cancel_reason reason, client_sequence request) {
    std::vector<order_id> found;
    for (const auto& [id, it] : orders_) {
        if (wanted(it)) found.push_back(id);
    }
    for (const order_id id : found) cancel(id, reason, request);
}

void model::handle(const cancel_order& it) {
    const reject_reason why = why_not(it);
    if (why != reject_reason::none) refuse(it, it.target.id, instrument_id::none, why);
}

reject_reason model::why_not(const cancel_order& it) {
    const reject_reason why = why_no_message(it.session, it.client_seq, false);
    if (why != reject_reason::none) return why;
    const std::vector<order_id> found = find(it.session, it.target);
    for (const order_id id : found) cancel(id, cancel_reason::requested, it.client_seq);
    return found.empty() ? reject_reason::unknown_order : reject_reason::none;
}

void model::handle(const cancel_orders& it) {
    const reject_reason why = why_not(it);
    if (why != reject_reason::none) refuse(it, order_id::none, it.instrument, why);
}

reject_reason model::why_not(const cancel_orders& it) {
    const reject_reason why = why_no_message(it.session, it.client_seq, false);
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
    cancel_where(wanted, cancel_reason::mass_cancel, it.client_seq);
    return reject_reason::none;
}

void model::handle(const enter_quote& it) {
    const reject_reason why = why_not(it);
    if (why != reject_reason::none) refuse(it, order_id::none, it.instrument, why);
}

reject_reason model::why_not(const enter_quote& it) {
    using enum reject_reason;
    if (const auto why = why_no_message(it.session, it.client_seq, true); why != none) return why;
    if (number(it.self_trade) > 4) return invalid_field;
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
        const auto why = why_no_value(in, terms.price, terms.quantity);
        if (why != none) return why;
    }
    const bool two = it.bid_quantity != 0 && it.ask_quantity != 0;
    if (two && it.bid_price >= it.ask_price) return invalid_combination;

    const model_account& whose = account_of(it.session);
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
    if (orders_.size() + 2 > limits_.orders_max) return at_capacity;

    for (const model_order* each : {&bid, &ask}) {
        const order_id id = old[number(each->terms.side)];
        if (id == order_id::none) continue;
        cancel(id,
               each->terms.quantity == 0 ? cancel_reason::requested : cancel_reason::quote_replaced,
               it.client_seq);
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

// ---------------------------------------------------------------------------------------------
// The operator
// ---------------------------------------------------------------------------------------------

template <class Command>
bool model::answer(const Command& it, std::uint32_t subject, reject_reason why) {
    if (why == reject_reason::none) say(admin_accepted{subject, it.kind});
    else say(admin_rejected{subject, it.kind, why});
    return why == reject_reason::none;
}

void model::handle(const define_product& it) {
    if (answer(it, number(it.product), reject_reason::none)) products_[it.product] = it;
}

void model::handle(const define_instrument& it) {
    const bool known = products_.contains(it.product);
    if (!answer(it, number(it.instrument),
                known ? reject_reason::none : reject_reason::unknown_product)) {
        return;
    }
    markets_[it.instrument].terms = it;
    markets_[it.instrument].product = products_.at(it.product);
}

void model::handle(const define_account& it) {
    if (answer(it, number(it.account), reject_reason::none)) accounts_[it.account].terms = it;
}

void model::handle(const define_session& it) {
    const bool known = accounts_.contains(it.account);
    if (answer(it, number(it.session),
               known ? reject_reason::none : reject_reason::unknown_account)) {
        sessions_[it.session] = {it, client_sequence::none};
    }
}

void model::handle(const set_phase& it) {
    reject_reason why = reject_reason::none;
    if (!markets_.contains(it.instrument)) why = reject_reason::unknown_instrument;
    else if (!within(it.phase, market_phase::closed, market_phase::halted)) {
        why = reject_reason::invalid_field;
    }
    if (!answer(it, number(it.instrument), why)) return;
    markets_.at(it.instrument).phase = it.phase;
    say(phase_changed{it.instrument, it.phase});
}

void model::handle(const set_account_state& it) {
    reject_reason why = reject_reason::none;
    if (!accounts_.contains(it.account)) why = reject_reason::unknown_account;
    else if (!within(it.state, account_state::active, account_state::blocked)) {
        why = reject_reason::invalid_field;
    }
    if (!answer(it, number(it.account), why)) return;
    accounts_.at(it.account).state = it.state;
    if (it.state != account_state::blocked) return;
    cancel_where([&](const model_order& each) { return each.account == it.account; },
                 cancel_reason::kill_switch, client_sequence::none);
}

void model::handle(const set_settlement_price& it) {
    reject_reason why = reject_reason::none;
    if (!markets_.contains(it.instrument)) why = reject_reason::unknown_instrument;
    else if (!is_price(it.settlement_price)) why = reject_reason::invalid_price;
    if (!answer(it, number(it.instrument), why)) return;
    markets_.at(it.instrument).terms.settlement_price = it.settlement_price;
}

void model::handle(const end_session& it) {
    const bool known = sessions_.contains(it.session);
    if (!answer(it, number(it.session),
                known ? reject_reason::none : reject_reason::unknown_session)) {
        return;
    }
    if (sessions_.at(it.session).terms.on_disconnect == disconnect_policy::keep_orders) return;
    cancel_where([&](const model_order& each) { return each.terms.session == it.session; },
                 cancel_reason::session_ended, client_sequence::none);
}

void model::handle(const end_day& it) {
    const bool known = markets_.contains(it.instrument);
    if (!answer(it, number(it.instrument),
                known ? reject_reason::none : reject_reason::unknown_instrument)) {
        return;
    }
    model_market& in = markets_.at(it.instrument);
    std::vector<order_id> ending;
    for (auto at = in.buys.rbegin(); at != in.buys.rend(); ++at) {
        ending.insert(ending.end(), at->second.begin(), at->second.end());
    }
    for (const auto& [price, ids] : in.sells) ending.insert(ending.end(), ids.begin(), ids.end());
    for (const order_id id : ending) {
        if (orders_.at(id).terms.tif == time_in_force::day) {
            cancel(id, cancel_reason::day_ended, client_sequence::none);
        }
    }
    in.day = {};
}

// ---------------------------------------------------------------------------------------------
// Saying it
// ---------------------------------------------------------------------------------------------

void model::say_cancelled(const model_order& it, contracts gone, cancel_reason reason,
                          client_sequence request) {
    say(order_cancelled{it.id, it.terms.price, it.terms.instrument, it.account, it.terms.client_seq,
                        request, gone, it.executed, it.terms.session, it.terms.side, reason});
}

void model::say_amended(const model_order& it, amend_priority priority, amend_reason reason,
                        client_sequence request) {
    say(order_amended{it.id, it.terms.price, it.terms.instrument, it.account, it.terms.client_seq,
                      request, it.open, it.executed, it.terms.session, it.terms.side, priority,
                      reason});
}

void model::say_executed(const model_order& it, const model_order& maker, contracts quantity) {
    say(order_executed{it.id, trade_id{last_trade_}, maker.terms.price, it.terms.instrument,
                       it.account, it.terms.client_seq, quantity, it.open, it.terms.session,
                       it.terms.side,
                       it.id == maker.id ? execution_role::maker : execution_role::taker});
}

void model::say_captured(const model_order& it, const model_order& other, const model_order& maker,
                         contracts quantity) {
    say(trade_capture_report{it.id, trade_id{last_trade_}, maker.terms.price, it.terms.instrument,
                             it.account, accounts_.at(it.account).terms.firm,
                             accounts_.at(other.account).terms.firm, quantity, it.terms.session,
                             it.terms.side,
                             it.id == maker.id ? execution_role::maker : execution_role::taker});
}

void model::say_book(const model_order& it, book_action action) {
    say(order_book_update{it.id, it.terms.price, it.terms.instrument,
                          action == book_action::erase ? 0 : it.open, it.terms.side, action});
}

void model::say_level(const model_order& it) {
    price_level_update made{it.terms.price, 0, it.terms.instrument, 0, it.terms.side};
    const model_side& side = side_of(it);
    if (const auto at = side.find(it.terms.price); at != side.end()) {
        for (const order_id id : at->second) {
            made.quantity += orders_.at(id).open;
            ++made.orders;
        }
    }
    say(made);
}

void model::say_top(instrument_id in) {
    model_market& market = markets_.at(in);
    top_of_book made{0, 0, 0, 0, in, 0, 0};
    if (!market.buys.empty()) {
        const auto& [price, ids] = *market.buys.rbegin();
        made.bid_price = price;
        for (const order_id id : ids) made.bid_quantity += orders_.at(id).open;
        made.bid_orders = static_cast<std::uint32_t>(ids.size());
    }
    if (!market.sells.empty()) {
        const auto& [price, ids] = *market.sells.begin();
        made.ask_price = price;
        for (const order_id id : ids) made.ask_quantity += orders_.at(id).open;
        made.ask_orders = static_cast<std::uint32_t>(ids.size());
    }
    const top_of_book& told = market.told;
    if (told.bid_price == made.bid_price && told.bid_quantity == made.bid_quantity &&
        told.ask_price == made.ask_price && told.ask_quantity == made.ask_quantity) {
        return;
    }
    market.told = made;
    say(made);
}

}  // namespace exchange::testing
