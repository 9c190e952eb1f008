// SPDX-License-Identifier: BSL-1.0
//
// See the header: how a trade is undone.
#include <exchange/core/trades.hpp>

#include <exchange/core/partition.hpp>

namespace exchange {

void partition::handle(const bust_trade& it) noexcept {
    if (!answer(out_, it, number(it.instrument), check(it))) return;
    market& in = venue_.markets[number(it.instrument)];
    kept_trade& busted = *venue_.trades.find(it.trade);
    std::array<account_id, 2> accounts{};
    for (const order_side side : {order_side::buy, order_side::sell}) {
        const holding_index whose = busted.holdings[number(side)];
        holding& held = venue_.holdings[whose];
        const std::int64_t quantity = busted.quantity;
        held.position -= side == order_side::buy ? quantity : -quantity;
        venue_.days[whose].subtract(side, busted.price, busted.quantity);
        accounts[number(side)] = held.account;
    }
    in.day.volume -= busted.quantity;
    --in.day.trades;
    out_.busted(in, busted, accounts);
    busted.quantity = 0;
}

reject_reason partition::check(const bust_trade& it) noexcept {
    const reject_reason why = check_present(it.instrument);
    if (why != reject_reason::none) return why;
    const kept_trade* const found = venue_.trades.find(it.trade);
    if (found == nullptr) return reject_reason::unknown_trade;
    const market& in = venue_.markets[number(it.instrument)];
    const bool here = venue_.holdings[found->holdings[0]].market == number(it.instrument);
    if (!here || found->id <= in.cycle.day_begin) return reject_reason::unknown_trade;
    return found->quantity == 0 ? reject_reason::already_busted : reject_reason::none;
}

}  // namespace exchange
