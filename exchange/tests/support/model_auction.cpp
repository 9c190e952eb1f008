// SPDX-License-Identifier: BSL-1.0
//
// The model, continued: phases, auctions and what interrupts a market. Every price is tried, from the
// definition of the one that an auction has.
#include <exchange/tests/support/model.hpp>

#include <algorithm>
#include <cstdlib>

namespace exchange::testing {
namespace {

struct candidate {
    price_ticks price;
    contracts_total volume;
    std::int64_t surplus;  // Of buyers; below zero, of sellers.
};

void keep_best(std::vector<candidate>& all, price_ticks reference) {
    contracts_total most = 0;
    for (const candidate& each : all) most = std::max(most, each.volume);
    std::erase_if(all, [&](const candidate& each) { return each.volume < most; });
    std::int64_t least = std::abs(all.front().surplus);
    for (const candidate& each : all) least = std::min(least, std::abs(each.surplus));
    std::erase_if(all, [&](const candidate& each) { return std::abs(each.surplus) > least; });

    const auto presses = [&](auto direction) {
        return std::all_of(all.begin(), all.end(), direction);
    };
    candidate best = all.front();
    for (const candidate& each : all) {
        if (presses([](const candidate& it) { return it.surplus < 0; })) break;
        const bool up = presses([](const candidate& it) { return it.surplus > 0; });
        // Prices rise from one to the next, so of two that are as near the higher stays.
        const bool nearer = std::abs(each.price - reference) <= std::abs(best.price - reference);
        if (up || nearer) best = each;
    }
    all = {best};
}

// What a schedule says behind this time: of each phase today or tomorrow.
std::optional<std::pair<timestamp_ns, market_phase>> next_in(const model_market& in,
                                                             timestamp_ns after) {
    constexpr timestamp_ns day = 86'400'000'000'000;
    std::optional<std::pair<timestamp_ns, market_phase>> first;
    for (const auto& [phase, second] : in.schedule) {
        const timestamp_ns today = after / day * day + second * 1'000'000'000ull;
        const timestamp_ns at = today > after ? today : today + day;
        if (!first || at < first->first) first = {at, phase};
    }
    return first;
}

}  // namespace

bool model::is_in_auction(const model_market& in) {
    return in.phase == market_phase::pre_open || in.phase == market_phase::opening_auction ||
           in.phase == market_phase::closing_auction ||
           in.phase == market_phase::volatility_auction;
}

price_ticks model::reference_of(const model_market& in) {
    return in.day.trades > 0 ? in.day.last : in.terms.settlement_price;
}

auction_result model::auction_of(instrument_id which) const {
    const model_market& in = markets_.at(which);
    const auction_result none{0, 0, 0, which, order_side::buy};
    const std::optional<price_ticks> bid = best_of(in, order_side::buy);
    const std::optional<price_ticks> ask = best_of(in, order_side::sell);
    if (!bid || !ask || *bid < *ask) return none;
    // Only what meets something: elsewhere nothing would trade.
    const auto quantities = [&](const model_side& side) {
        std::map<price_ticks, contracts_total> found;
        const auto end = side.upper_bound(*bid);
        for (auto at = side.lower_bound(*ask); at != end; ++at) {
            for (const order_id id : at->second) found[at->first] += orders_.at(id).open;
        }
        return found;
    };
    const auto wanted = quantities(in.buys);
    const auto offered = quantities(in.sells);
    const price_ticks reference = reference_of(in);
    std::set<price_ticks> prices;
    for (const auto& [price, quantity] : wanted) {
        if (price != price_ticks_max) prices.insert(price);
    }
    for (const auto& [price, quantity] : offered) {
        if (price != -price_ticks_max) prices.insert(price);
    }
    const bool is_limit = why_no_price(in, reference) == reject_reason::none;
    if (is_limit || prices.empty()) prices.insert(reference);

    contracts_total demand = 0;
    for (const auto& [price, quantity] : wanted) demand += quantity;
    contracts_total supply = 0;
    auto buyers = wanted.begin();
    auto sellers = offered.begin();
    std::vector<candidate> all;
    for (const price_ticks price : prices) {
        for (; buyers != wanted.end() && buyers->first < price; ++buyers) demand -= buyers->second;
        for (; sellers != offered.end() && sellers->first <= price; ++sellers) {
            supply += sellers->second;
        }
        all.push_back({price, std::min(demand, supply),
                       static_cast<std::int64_t>(demand) - static_cast<std::int64_t>(supply)});
    }
    keep_best(all, reference);
    const candidate& best = all.front();
    if (best.volume == 0) return none;
    return {best.price, best.volume, static_cast<contracts_total>(std::abs(best.surplus)), which,
            best.surplus < 0 ? order_side::sell : order_side::buy};
}

// Of each auction that the command has touched, what it would trade now, if that is not what was told.
void model::say_indications() {
    for (const instrument_id in : touched_) {
        model_market& market = markets_.at(in);
        if (!is_in_auction(market)) continue;
        const auto [price, volume, surplus, instrument, side] = auction_of(in);
        const auction_indication& told = market.indicated;
        if (told.price == price && told.volume == volume && told.surplus == surplus &&
            told.surplus_side == side) {
            continue;
        }
        market.indicated = {price, volume, surplus, instrument, side};
        say(market.indicated);
    }
    touched_.clear();
}

void model::touch(instrument_id in) {
    if (!is_in_auction(markets_.at(in))) return;
    if (std::find(touched_.begin(), touched_.end(), in) == touched_.end()) touched_.push_back(in);
}

void model::enter_phase(instrument_id in, market_phase phase) {
    model_market& market = markets_.at(in);
    market.phase = phase;
    market.indicated = {};
    market.auction_until.reset();
    say(phase_changed{in, phase});
    touch(in);
}

// ---------------------------------------------------------------------------------------------
// Commands
// ---------------------------------------------------------------------------------------------

void model::handle(const set_phase& it) {
    using enum reject_reason;
    const auto why_not = [&] {
        const auto at = markets_.find(it.instrument);
        if (at == markets_.end()) return unknown_instrument;
        if (at->second.phase == market_phase::ended) return out_of_use;
        const bool known = within(it.phase, market_phase::closed, market_phase::halted) ||
                           within(it.phase, market_phase::pre_open, market_phase::closing_auction);
        if (!known) return invalid_field;
        return is_over(at->second) && it.phase != market_phase::closed ? out_of_use : none;
    };
    if (answer(it, number(it.instrument), why_not())) change_phase(it.instrument, it.phase);
}

void model::change_phase(instrument_id in, market_phase phase) {
    model_market& market = markets_.at(in);
    if (phase != market_phase::closed && market.day_over) {
        market.day_over = false;
        market.days.clear();
    }
    if (phase == market_phase::continuous) end_auction(in, phase);
    else enter_phase(in, phase);
}

// Quotes that were struck go before the market is open; stops that were reached come behind, unless it is
// closed.
void model::end_auction(instrument_id in, market_phase then) {
    trade_auction(in);
    withdraw_struck();
    enter_phase(in, then);
    if (then == market_phase::closed) printed_.clear();
    follow_trading();
    if (then == market_phase::closed) finish_day(in);
}

void model::handle(const uncross& it) {
    using enum reject_reason;
    const auto why_not = [&] {
        const auto at = markets_.find(it.instrument);
        if (at == markets_.end()) return unknown_instrument;
        if (at->second.phase == market_phase::ended || is_over(at->second)) return out_of_use;
        return is_in_auction(at->second) ? none : no_auction;
    };
    if (!answer(it, number(it.instrument), why_not())) return;
    const bool closes = markets_.at(it.instrument).phase == market_phase::closing_auction;
    end_auction(it.instrument, closes ? market_phase::closed : market_phase::continuous);
}

void model::handle(const schedule_phase& it) {
    using enum reject_reason;
    const auto why_not = [&] {
        const auto at = markets_.find(it.instrument);
        if (at == markets_.end()) return unknown_instrument;
        if (at->second.phase == market_phase::ended) return out_of_use;
        const bool known = within(it.phase, market_phase::closed, market_phase::halted) ||
                           within(it.phase, market_phase::pre_open, market_phase::closing_auction);
        if (!known) return invalid_field;
        return it.second_of_day <= 86'400 ? none : invalid_definition;
    };
    if (!answer(it, number(it.instrument), why_not())) return;
    model_market& in = markets_.at(it.instrument);
    in.schedule.erase(it.phase);
    if (it.second_of_day < 86'400) in.schedule[it.phase] = it.second_of_day;
    in.due = next_in(in, now_);
}

void model::handle(const set_interruption& it) {
    using enum reject_reason;
    const auto why_not = [&] {
        const auto at = markets_.find(it.instrument);
        if (at == markets_.end()) return unknown_instrument;
        if (at->second.phase == market_phase::ended) return out_of_use;
        return it.collar >= 0 && is_price(it.collar) ? none : invalid_definition;
    };
    if (answer(it, number(it.instrument), why_not())) {
        markets_.at(it.instrument).interruption = it;
    }
}

void model::handle(const advance_phases& it) {
    answer(it, 0, reject_reason::none);
    for (const auto& [id, market] : markets_) {
        while (advance(id)) {
        }
    }
}

// False if nothing is due in this market.
bool model::advance(instrument_id which) {
    model_market& in = markets_.at(which);
    if (in.phase == market_phase::ended || is_over(in)) return false;
    if (in.phase == market_phase::volatility_auction && in.auction_until &&
        now_ >= *in.auction_until) {
        change_phase(which, market_phase::continuous);
        return true;
    }
    if (!in.due || now_ < in.due->first) return false;
    const market_phase next = in.due->second;
    in.due = next_in(in, in.due->first);
    if (in.phase == market_phase::halted && next != market_phase::closed) return true;
    if (in.phase == next) return true;
    if (in.phase == market_phase::closing_auction && next == market_phase::closed) {
        end_auction(which, next);
    } else {
        change_phase(which, next);
    }
    return true;
}

// ---------------------------------------------------------------------------------------------
// What interrupts
// ---------------------------------------------------------------------------------------------

// How far an order trades: its limit, or what is nearer to the reference price.
price_ticks model::reach_of(const model_order& it) const {
    const model_market& in = markets_.at(it.terms.instrument);
    const price_ticks collar = in.interruption.collar;
    if (collar == 0) return it.terms.price;
    const price_ticks reference = reference_of(in);
    if (it.terms.side == order_side::buy) return std::min(it.terms.price, reference + collar);
    return std::max(it.terms.price, reference - collar);
}

// Trades what it can where orders trade on arrival, and interrupts the market if it would trade farther.
// False, and nothing was traded, if that is less than it wants at least.
bool model::trade_on_arrival(model_order& it, contracts least) {
    const instrument_id in = it.terms.instrument;
    if (is_in_auction(markets_.at(in))) return least == 0;
    const price_ticks reach = reach_of(it);
    if (least > 0 && within_reach(it, reach) < least) return false;
    trade_against_book(it, reach);
    const std::optional<price_ticks> best = best_of(markets_.at(in), opposite(it.terms.side));
    if (it.open == 0 || !best) return true;
    const bool meets =
        it.terms.side == order_side::buy ? *best <= it.terms.price : *best >= it.terms.price;
    if (!meets) return true;
    enter_phase(in, market_phase::volatility_auction);
    model_market& market = markets_.at(in);
    const timestamp_ns lasts = market.interruption.duration_ns;
    const timestamp_ns never = ~timestamp_ns{0};
    if (lasts > 0) market.auction_until = lasts > never - now_ ? never : now_ + lasts;
    return true;
}

// ---------------------------------------------------------------------------------------------
// The end of an auction
// ---------------------------------------------------------------------------------------------

void model::trade_auction(instrument_id in) {
    const auction_result found = auction_of(in);
    if (found.volume > 0) say(found);
    for (contracts_total left = found.volume; left > 0;) {
        const model_market& market = markets_.at(in);
        const order_id buy = market.buys.rbegin()->second.front();
        const order_id sell = market.sells.begin()->second.front();
        left -= cross(buy, sell, found.price, left);
    }
    for (const order_id id : in_priority(in)) {
        if (orders_.at(id).terms.type != order_type::market) continue;
        cancel(id, cancel_reason::immediate_or_cancel);
    }
}

contracts model::cross(order_id buy, order_id sell, price_ticks price, contracts_total most) {
    model_order buyer = orders_.at(buy);
    model_order seller = orders_.at(sell);
    const auto smallest = [most](contracts one, contracts other) {
        return static_cast<contracts>(
            std::min({contracts_total{one}, contracts_total{other}, most}));
    };
    const bool allowed = buyer.terms.self_trade == self_trade_action::allow &&
                         seller.terms.self_trade == self_trade_action::allow;
    if (is_own(buyer.account, seller.account) && !allowed) {
        const contracts less = smallest(buyer.open, seller.open);
        lose(buy, less);
        lose(sell, less);
        return less;
    }
    const contracts quantity = smallest(shown_of(buyer), shown_of(seller));
    for (model_order* const each : {&buyer, &seller}) {
        each->open -= quantity;
        each->executed += quantity;
        if (each->display != 0) each->shown -= quantity;
        orders_.at(each->id) = *each;
        if (each->is_quote) count_quoted(*each, quantity);
        if (each->open == 0) take(*each);
        else if (shown_of(*each) == 0) take_from_level(*each);
    }
    count_trade(buyer, seller, price, quantity);
    const model_market& in = markets_.at(buyer.terms.instrument);
    say_executed(buyer, price, quantity, execution_role::auction);
    say_executed(seller, price, quantity, execution_role::auction);
    say(trade{trade_id{last_trade_}, price, buyer.terms.instrument, quantity, order_side::sell});
    say(volume_update{in.day.volume, buyer.terms.instrument, in.day.trades});
    say_captured(buyer, seller, price, quantity, execution_role::auction);
    say_captured(seller, buyer, price, quantity, execution_role::auction);
    for (const model_order* const each : {&buyer, &seller}) {
        say_book(*each, shown_of(*each) == 0 ? book_action::erase : book_action::modify);
        say_level(*each);
    }
    say(in.day);
    say_top(buyer.terms.instrument);
    for (model_order* const each : {&buyer, &seller}) {
        if (each->open != 0 && shown_of(*each) == 0) show_more(*each);
    }
    return quantity;
}

}  // namespace exchange::testing
