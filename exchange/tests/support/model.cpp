// SPDX-License-Identifier: BSL-1.0
//
// See the header. Written from the rules and not from the core; slow on purpose where that is simpler.
#include <exchange/tests/support/model.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace exchange::testing {
namespace {

bool at_once(time_in_force it) {
    return it == time_in_force::immediate_or_cancel || it == time_in_force::fill_or_kill;
}

}  // namespace

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
    if (!orders_.contains(it.id)) {
        by_name_.insert({{it.terms.session, it.terms.client_seq}, it.id});
        by_account_[it.account].insert(it.id);
    }
    orders_[it.id] = it;
}

void model::take(const model_order& it) {
    take_from_level(it);
    forget(it);
}

void model::take_from_level(const model_order& it) {
    model_side& side = side_of(it);
    side.at(it.terms.price).remove(it.id);
    if (side.at(it.terms.price).empty()) side.erase(it.terms.price);
}

void model::forget(const model_order& it) {
    auto [at, end] = by_name_.equal_range({it.terms.session, it.terms.client_seq});
    while (at->second != it.id) ++at;
    by_name_.erase(at);
    by_account_.at(it.account).erase(it.id);
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
    const auto [begin, end] = by_name_.equal_range({from, target.client_seq});
    for (auto at = begin; at != end; ++at) found.push_back(at->second);
    return found;
}

order_id model::quote_of(account_id whose, instrument_id in, order_side side) const {
    const auto own = by_account_.find(whose);
    if (own == by_account_.end()) return order_id::none;
    for (const order_id id : own->second) {
        const model_order& it = orders_.at(id);
        if (it.is_quote && it.terms.instrument == in && it.terms.side == side) return id;
    }
    return order_id::none;
}

std::int64_t model::position_of(account_id whose, instrument_id in) const {
    const auto known = accounts_.find(whose);
    if (known == accounts_.end()) return 0;
    const auto at = known->second.position.find(in);
    return at == known->second.position.end() ? 0 : at->second;
}

contracts_total model::open_of(account_id whose, instrument_id in, order_side side) const {
    const auto own = by_account_.find(whose);
    if (own == by_account_.end()) return 0;
    contracts_total open = 0;
    for (const order_id id : own->second) {
        const model_order& it = orders_.at(id);
        if (it.terms.instrument == in && it.terms.side == side) open += it.open;
    }
    return open;
}

// ---------------------------------------------------------------------------------------------
// Orders
// ---------------------------------------------------------------------------------------------

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
        const auto why = why_no_value(in, it.side, made.terms.price, it.quantity);
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
    if (orders_.size() == limits_.orders_max || !has_holding(whose.terms.account, it.instrument) ||
        (waits && !has_room(it.instrument, it.side, it.price))) {
        return at_capacity;
    }

    made.account = whose.terms.account;
    if (it.self_trade == self_trade_action::account_default) {
        made.terms.self_trade = whose.terms.self_trade;
    }
    arrive(made);
    return none;
}

void model::arrive(model_order it) {
    holdings_.insert({it.account, it.terms.instrument});
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

void model::change(model_order& old, const amend_order& how) {
    model_order was = old;
    model_order it = old;
    it.terms.price = how.price;
    it.open = how.quantity - old.executed;
    // It stays in the list of orders, though not in the book: it keeps its place among its account's.
    take_from_level(was);
    say_amended(it, amend_priority::lost, amend_reason::requested, how.client_seq);
    say_book(was, book_action::erase);
    say_level(was);
    trade_against_book(it);
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
