// SPDX-License-Identifier: BSL-1.0
//
// The model, continued: what trades add up to, and how one is undone.
#include <exchange/tests/support/model.hpp>

#include <algorithm>

namespace exchange::testing {

// The next trade, with all that it changes but the orders themselves.
void model::count_trade(const model_order& one, const model_order& other, price_ticks price,
                        contracts quantity) {
    const instrument_id which = one.terms.instrument;
    model_market& in = markets_.at(which);
    in.day.open = in.day.trades == 0 ? price : in.day.open;
    in.day.high = in.day.trades == 0 ? price : std::max(in.day.high, price);
    in.day.low = in.day.trades == 0 ? price : std::min(in.day.low, price);
    in.day.last = price;
    in.day.volume += quantity;
    in.day.trades += 1;
    in.day.instrument = which;
    ++last_trade_;
    printed_.emplace_back(which, price);
    const bool one_buys = one.terms.side == order_side::buy;
    const model_order& buy = one_buys ? one : other;
    const model_order& sell = one_buys ? other : one;
    trades_[trade_id{last_trade_}] = {which, price, quantity, buy, sell, false};
    accounts_.at(buy.account).position[which] += std::int64_t{quantity};
    accounts_.at(sell.account).position[which] -= std::int64_t{quantity};
    model_day& bought = in.days[buy.account];
    bought.bought += quantity;
    bought.bought_value += trade_value{price} * quantity;
    ++bought.trades;
    model_day& sold = in.days[sell.account];
    sold.sold += quantity;
    sold.sold_value += trade_value{price} * quantity;
    ++sold.trades;
}

model_day model::day_of(account_id whose, instrument_id in) const {
    const auto market = markets_.find(in);
    if (market == markets_.end()) return {};
    const auto found = market->second.days.find(whose);
    return found == market->second.days.end() ? model_day{} : found->second;
}

void model::finish_day(instrument_id which) {
    model_market& in = markets_.at(which);
    for (const order_id id : in_priority(which)) {
        const enter_order& terms = orders_.at(id).terms;
        const bool ends = terms.tif == time_in_force::day || terms.type == order_type::market;
        if (ends) cancel(id, cancel_reason::day_ended);
    }
    in.day = {};
    in.day.instrument = which;
    in.last_before = last_trade_;
    if (in.phase == market_phase::closed) in.day_over = true;
    else in.days.clear();
    say(volume_update{0, which, 0});
    say(in.day);
}

void model::handle(const bust_trade& it) {
    if (!answer(it, number(it.instrument), why_no_bust(it))) return;
    model_trade& busted = trades_.at(it.trade);
    model_market& in = markets_.at(it.instrument);
    const contracts quantity = busted.quantity;
    const trade_value value = trade_value{busted.price} * quantity;
    busted.busted = true;
    accounts_.at(busted.buy.account).position[it.instrument] -= std::int64_t{quantity};
    accounts_.at(busted.sell.account).position[it.instrument] += std::int64_t{quantity};
    model_day& bought = in.days[busted.buy.account];
    bought.bought -= quantity;
    bought.bought_value -= value;
    --bought.trades;
    model_day& sold = in.days[busted.sell.account];
    sold.sold -= quantity;
    sold.sold_value -= value;
    --sold.trades;
    in.day.volume -= quantity;
    in.day.trades -= 1;
    for (const model_order* const each : {&busted.buy, &busted.sell}) {
        say(execution_busted{each->id, it.trade, busted.price, it.instrument, each->account,
                             each->terms.client_seq, quantity, each->terms.session,
                             each->terms.side});
    }
    say(trade_busted{it.trade, busted.price, it.instrument, quantity});
    say(volume_update{in.day.volume, it.instrument, in.day.trades});
    say(in.day);
}

reject_reason model::why_no_bust(const bust_trade& it) const {
    using enum reject_reason;
    const auto at = markets_.find(it.instrument);
    if (at == markets_.end()) return unknown_instrument;
    if (at->second.phase == market_phase::ended) return out_of_use;
    const auto found = trades_.find(it.trade);
    if (found == trades_.end() || found->second.instrument != it.instrument) return unknown_trade;
    const std::uint64_t later = last_trade_ - number(it.trade);
    const bool known = later < limits_.trades_kept_max;
    if (!known || number(it.trade) <= at->second.last_before) return unknown_trade;
    return found->second.busted ? already_busted : none;
}

}  // namespace exchange::testing
