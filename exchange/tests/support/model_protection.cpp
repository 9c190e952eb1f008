// SPDX-License-Identifier: BSL-1.0
//
// The model, continued: market-maker protection, fills of quotes counted one by one.
#include <exchange/tests/support/model.hpp>

#include <cstdlib>

namespace exchange::testing {

void model::handle(const set_protection& it) {
    const reject_reason why = why_not(it);
    if (why != reject_reason::none) return refuse(it, order_id::none, instrument_id::none, why);
    const account_id whose = sessions_.at(it.session).terms.account;
    protections_[{whose, it.product}] = {it, {}, false};
    say(protection_set{it.client_seq, it.window_ns, it.product, whose, it.quantity_max,
                       it.delta_max, it.trades_max, it.session});
}

reject_reason model::why_not(const set_protection& it) {
    using enum reject_reason;
    if (const auto why = why_no_message(it.session, it.client_seq, model_message::entry);
        why != none) {
        return why;
    }
    if (!products_.contains(it.product)) return unknown_product;
    const bool unbounded = it.quantity_max == 0 && it.delta_max == 0 && it.trades_max == 0;
    if (it.window_ns == 0 ? !unbounded : unbounded) return invalid_combination;
    const account_id whose = sessions_.at(it.session).terms.account;
    const bool known = protections_.contains({whose, it.product});
    return known || protections_.size() < limits_.protections_max ? none : at_capacity;
}

bool model::is_struck(account_id whose, instrument_id in) const {
    const auto at = protections_.find({whose, markets_.at(in).terms.product});
    return at != protections_.end() && at->second.struck;
}

void model::count_quoted(const model_order& maker, contracts quantity) {
    const product_id product = markets_.at(maker.terms.instrument).terms.product;
    const auto at = protections_.find({maker.account, product});
    if (at == protections_.end() || at->second.struck || at->second.terms.window_ns == 0) return;
    model_protection& it = at->second;
    if (!it.fills.empty() && now_ - it.fills.front().at >= it.terms.window_ns) it.fills.clear();
    const bool buys = maker.terms.side == order_side::buy;
    it.fills.push_back({now_, buys ? std::int64_t{quantity} : -std::int64_t{quantity}});

    std::uint64_t sum = 0;
    std::int64_t delta = 0;
    for (const auto& fill : it.fills) {
        sum += static_cast<std::uint64_t>(std::abs(fill.bought));
        delta += fill.bought;
    }
    const set_protection& terms = it.terms;
    it.struck = (terms.trades_max > 0 && it.fills.size() > terms.trades_max) ||
                (terms.quantity_max > 0 && sum > terms.quantity_max) ||
                (terms.delta_max > 0 && std::abs(delta) > std::int64_t{terms.delta_max});
    if (!it.struck) return;
    struck_.push_back({maker.account, product});
    struck_said_.push_back(protection_struck{terms.client_seq, sum, delta, product, maker.account,
                                             static_cast<std::uint32_t>(it.fills.size()),
                                             terms.session});
}

void model::withdraw_struck() {
    for (std::size_t each = 0; each < struck_.size(); ++each) {
        const auto [whose, product] = struck_[each];
        say(struck_said_[each]);
        for (const auto& [in, market] : markets_) {
            if (market.terms.product != product) continue;
            for (const order_side side : {order_side::buy, order_side::sell}) {
                const order_id quoted = quote_of(whose, in, side);
                if (quoted != order_id::none) cancel(quoted, cancel_reason::protection);
            }
        }
    }
    struck_.clear();
    struck_said_.clear();
}

}  // namespace exchange::testing
