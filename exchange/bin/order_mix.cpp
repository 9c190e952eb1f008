// SPDX-License-Identifier: BSL-1.0
//
// Random choices: see order_mix.hpp.
#include <exchange/bin/order_mix.hpp>

#include <algorithm>

namespace exchange {
namespace {

/// With nothing advanced about it yet.
enter_advanced_order advanced(const enter_order& it) {
    return {it.session,
            it.client_seq,
            it.instrument,
            it.side,
            it.type,
            it.tif,
            it.instruction,
            it.self_trade,
            it.price,
            0,
            it.quantity,
            0,
            0,
            0};
}

}  // namespace

order_mix_command order_mix::next(const order_view& trader, client_sequence number) {
    const std::uint64_t roll = below(100);
    const bool full = trader.resting() >= options_.resting_max;
    if (trader.resting() > 0 && (full || roll < 35)) {
        const own_order& it = trader.resting(below(trader.resting()));
        // What is asked for twice is refused the second time, which says nothing.
        if (!it.asked && !full && roll < 18) return amend(it, number);
        if (!it.asked)
            return cancel_order{session_id::none, number, {order_id::none, it.entered.client_seq}};
    }
    if (roll >= 90) return enter(number, time_in_force::immediate_or_cancel);
    if (roll >= 86) return enter_iceberg(number);
    if (roll >= 82) return enter_stop(number);
    return enter(number, roll < 70 ? time_in_force::good_till_cancel : time_in_force::day);
}

const traded_market& order_mix::market_of(instrument_id it) const noexcept {
    return *std::ranges::find(options_.markets, it, &traded_market::instrument);
}

price_ticks order_mix::price_in(const traded_market& in, order_side side) {
    const auto behind = static_cast<price_ticks>(below(options_.levels + options_.overlap)) -
                        static_cast<price_ticks>(options_.overlap);
    return in.middle + in.step * (side == order_side::buy ? -behind : behind);
}

enter_order order_mix::enter(client_sequence number, time_in_force tif) {
    const traded_market& in = options_.markets[below(options_.markets.size())];
    enter_order it{};
    it.client_seq = number;
    it.instrument = in.instrument;
    it.side = below(2) == 0 ? order_side::buy : order_side::sell;
    it.type = order_type::limit;
    it.tif = tif;
    it.price = price_in(in, it.side);
    it.quantity = in.lot * static_cast<contracts>(1 + below(options_.lots_max));
    return it;
}

enter_advanced_order order_mix::enter_iceberg(client_sequence number) {
    enter_advanced_order it = advanced(enter(number, time_in_force::good_till_cancel));
    it.display_quantity = it.quantity;
    it.quantity *= static_cast<contracts>(2 + below(4));
    return it;
}

// Beyond the middle, where prices may get; that it is there already is refused, which is an answer as well.
enter_advanced_order order_mix::enter_stop(client_sequence number) {
    enter_advanced_order it = advanced(enter(number, time_in_force::day));
    const traded_market& in = market_of(it.instrument);
    const price_ticks away = in.step * static_cast<price_ticks>(1 + below(options_.overlap + 1));
    it.type = order_type::stop_limit;
    it.trigger_price = in.middle + (it.side == order_side::buy ? away : -away);
    it.price = it.trigger_price;
    return it;
}

amend_order order_mix::amend(const own_order& it, client_sequence number) {
    const traded_market& in = market_of(it.entered.instrument);
    const bool keeps_price = below(2) == 0;
    const auto lots = static_cast<contracts>(1 + below(options_.lots_max));
    return {session_id::none,
            number,
            {order_id::none, it.entered.client_seq},
            keeps_price ? it.price : price_in(in, it.entered.side),
            in.lot * lots};
}

}  // namespace exchange
