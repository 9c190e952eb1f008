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
    follow_trading();
    say_indications();
    return said_;
}

// ---------------------------------------------------------------------------------------------
// Looking things up
// ---------------------------------------------------------------------------------------------

const model_account& model::account_of(session_id from) const {
    return accounts_.at(sessions_.at(from).terms.account);
}

const define_product& model::product_of(const model_market& in) const {
    return products_.at(in.terms.product).terms;
}

bool model::knows(session_id it) const {
    const auto at = sessions_.find(it);
    return at != sessions_.end() && !at->second.retired;
}

bool model::is_own(account_id one, account_id other) const {
    if (one == other) return true;
    const self_trade_group group = accounts_.at(one).terms.group;
    return group != self_trade_group::none && group == accounts_.at(other).terms.group;
}

std::optional<price_ticks> model::best_of(const model_market& in, order_side side) const {
    if (side == order_side::buy) {
        return in.buys.empty() ? std::nullopt : std::optional{in.buys.rbegin()->first};
    }
    return in.sells.empty() ? std::nullopt : std::optional{in.sells.begin()->first};
}

// The best price of each side first, at each price the oldest; buyers before sellers, then stops.
std::vector<order_id> model::in_priority(instrument_id in) const {
    const model_market& market = markets_.at(in);
    std::vector<order_id> all;
    for (auto at = market.buys.rbegin(); at != market.buys.rend(); ++at) {
        all.insert(all.end(), at->second.begin(), at->second.end());
    }
    for (const auto& [price, ids] : market.sells) all.insert(all.end(), ids.begin(), ids.end());
    for (const order_side side : {order_side::buy, order_side::sell}) {
        for (const order_id id : stops_of(in, side)) all.push_back(id);
    }
    return all;
}

model_side& model::side_of(const model_order& it) {
    model_market& in = markets_.at(it.terms.instrument);
    return it.terms.side == order_side::buy ? in.buys : in.sells;
}

void model::put(model_order& it) {
    it.shown = std::min(it.display, it.open);
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
    if (const auto why = why_no_message(it.session, it.client_seq, model_message::entry);
        why != none) {
        return why;
    }
    if (!within(it.side, order_side::buy, order_side::sell) ||
        !within(it.type, order_type::limit, order_type::market) ||
        !within(it.tif, time_in_force::day, time_in_force::fill_or_kill) ||
        !within(it.instruction, execution_instruction::none, execution_instruction::post_only) ||
        !within(it.self_trade, self_trade_action::account_default, self_trade_action::allow)) {
        return invalid_field;
    }
    model_order made{};
    made.terms = it;
    const bool at_market = it.type == order_type::market;
    if (at_market && !at_once(it.tif)) made.terms.tif = time_in_force::immediate_or_cancel;
    const bool post_only = it.instruction == execution_instruction::post_only;
    if (post_only && at_once(made.terms.tif)) return invalid_combination;
    if (const auto why = why_no_market(it.instrument); why != none) return why;

    const model_market& in = markets_.at(it.instrument);
    const bool buys = it.side == order_side::buy;
    const bool collects = is_in_auction(in);
    if (collects && (post_only || at_once(it.tif))) return not_in_auction;
    const bool waits = collects || !at_once(made.terms.tif);
    price_ticks valued = it.price;
    if (at_market && collects) {
        if (in.terms.collar == 0) return no_price_protection;
        made.terms.price = buys ? price_ticks_max : -price_ticks_max;
        valued = in.terms.settlement_price + (buys ? in.terms.collar : -in.terms.collar);
    } else if (at_market) {
        const std::optional<price_ticks> limit = market_limit(in, it.side);
        if (!limit) return no_price_protection;
        made.terms.price = valued = *limit;
        const price_ticks best = best_of(in, opposite(it.side)).value_or(*limit);
        if (in.terms.collar == 0 && std::abs(best) > std::abs(valued)) valued = best;
    } else if (const auto why = why_no_price(in, it.price); why != none) {
        return why;
    }
    if (const auto why = why_no_quantity(in, it.quantity); why != none) return why;
    if (const auto why = why_no_value(in, it.side, valued, it.quantity); why != none) return why;
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
        (waits && !has_room(it.instrument, it.side, made.terms.price))) {
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
    if (it.advanced) {
        say(order_terms{it.id, it.trigger, it.terms.client_seq, it.terms.instrument, it.account,
                        it.display, it.minimum, it.last_day, it.terms.session, it.terms.side,
                        it.type});
    }
    if (it.waits) wait_for_trigger(it);
    else go_its_way(it);
}

// One that was triggered is known by its name already.
void model::go_its_way(model_order it) {
    const bool listed = orders_.contains(it.id);
    const bool collects = is_in_auction(markets_.at(it.terms.instrument));
    const bool kill = it.terms.tif == time_in_force::fill_or_kill;
    const bool enough = trade_on_arrival(it, kill ? it.open : it.minimum);
    if (it.open > 0 && (!enough || (!collects && at_once(it.terms.tif)))) {
        cancel_reason why = cancel_reason::immediate_or_cancel;
        if (!enough) why = cancel_reason::minimum_quantity;
        if (kill) why = cancel_reason::fill_or_kill;
        say_cancelled(it, it.open, why);
        it.open = 0;
    }
    if (it.open == 0) {
        if (listed) forget(it);
        return;
    }
    put(it);
    say(order_entered{it.id, it.terms.price, it.terms.instrument, it.account, it.terms.client_seq,
                      it.open, it.executed, it.terms.session, it.terms.side, it.terms.tif});
    say_book(it, book_action::add);
    say_level(it);
    say_top(it.terms.instrument);
}

// As if it traded: what an iceberg hides comes to the end of its price, part by part.
std::uint64_t model::within_reach(const model_order& it, price_ticks reach) const {
    const model_market& in = markets_.at(it.terms.instrument);
    std::vector<std::list<order_id>> levels;
    if (it.terms.side == order_side::buy) {
        for (const auto& [price, ids] : in.sells) {
            if (price <= reach) levels.push_back(ids);
        }
    } else {
        for (auto at = in.buys.rbegin(); at != in.buys.rend(); ++at) {
            if (at->first >= reach) levels.push_back(at->second);
        }
    }
    std::uint64_t found = 0;
    std::map<order_id, contracts> taken;
    for (std::list<order_id>& queue : levels) {
        for (; !queue.empty() && found < it.open; queue.pop_front()) {
            const model_order& other = orders_.at(queue.front());
            const bool own = it.terms.self_trade != self_trade_action::allow &&
                             is_own(it.account, other.account);
            if (own && it.terms.self_trade != self_trade_action::cancel_resting) return found;
            if (own) continue;
            contracts& before = taken[other.id];
            const contracts left = other.open - before;
            const contracts part = before == 0 ? shown_of(other) : std::min(left, other.display);
            found += part;
            before += part;
            if (part < left) queue.push_back(other.id);
        }
    }
    return found;
}

void model::trade_against_book(model_order& it, price_ticks reach) {
    const bool buys = it.terms.side == order_side::buy;
    while (it.open > 0) {
        model_market& in = markets_.at(it.terms.instrument);
        model_side& others = buys ? in.sells : in.buys;
        if (others.empty()) return;
        const auto best = buys ? others.begin() : std::prev(others.end());
        if (buys ? best->first > reach : best->first < reach) return;
        const order_id first = best->second.front();
        const bool same = it.terms.self_trade != self_trade_action::allow &&
                          is_own(it.account, orders_.at(first).account);
        if (same) meet_own(it, first);
        else fill(it, first);
    }
}

void model::meet_own(model_order& it, order_id resting) {
    const self_trade_action how = it.terms.self_trade;
    if (how == self_trade_action::decrement) {
        const contracts less = std::min(it.open, orders_.at(resting).open);
        lose(resting, less);
        if (it.open == less) {
            say_cancelled(it, less, cancel_reason::self_trade);
            it.open = 0;
        } else {
            it.open -= less;
            say_amended(it, amend_priority::kept, amend_reason::self_trade);
        }
        return;
    }
    if (how != self_trade_action::cancel_aggressor) {
        cancel(resting, cancel_reason::self_trade);
    }
    if (how != self_trade_action::cancel_resting) {
        say_cancelled(it, it.open, cancel_reason::self_trade);
        it.open = 0;
    }
}

void model::lose(order_id resting, contracts less) {
    model_order& it = orders_.at(resting);
    if (it.open == less) return cancel(resting, cancel_reason::self_trade);
    lessen(it, it.open - less, amend_reason::self_trade, {});
}

void model::fill(model_order& taker, order_id resting) {
    model_order maker = orders_.at(resting);
    const contracts quantity = std::min(taker.open, shown_of(maker));
    taker.open -= quantity;
    taker.executed += quantity;
    maker.open -= quantity;
    maker.executed += quantity;
    if (maker.display != 0) maker.shown -= quantity;
    orders_.at(resting) = maker;
    if (maker.open == 0) take(maker);
    else if (shown_of(maker) == 0) take_from_level(maker);
    const price_ticks price = maker.terms.price;
    if (maker.is_quote) count_quoted(maker, quantity);
    count_trade(maker, taker, price, quantity);
    const model_market& in = markets_.at(maker.terms.instrument);

    say_executed(maker, price, quantity, execution_role::maker);
    say_executed(taker, price, quantity, execution_role::taker);
    say(trade{trade_id{last_trade_}, price, maker.terms.instrument, quantity, taker.terms.side});
    say(volume_update{in.day.volume, maker.terms.instrument, in.day.trades});
    const bool buys = taker.terms.side == order_side::buy;
    const auto capture = [&](const model_order& it, const model_order& other) {
        const bool by_maker = it.id == maker.id;
        say_captured(it, other, price, quantity,
                     by_maker ? execution_role::maker : execution_role::taker);
    };
    capture(buys ? taker : maker, buys ? maker : taker);
    capture(buys ? maker : taker, buys ? taker : maker);
    say_book(maker, shown_of(maker) == 0 ? book_action::erase : book_action::modify);
    say_level(maker);
    say(in.day);
    say_top(maker.terms.instrument);
    if (maker.open != 0 && shown_of(maker) == 0) show_more(maker);
}

}  // namespace exchange::testing
