// SPDX-License-Identifier: BSL-1.0
//
// What a quote is: two orders of one account in one market, which the next quote replaces.
//
// All of it is checked before the old one goes, so a refused quote leaves the old one standing. The
// limits are asked as if the old one were gone already. Sides are not amended, and neither is cancelled
// without the other but by a mass cancel of one side.
#include <exchange/core/partition.hpp>

#include <exchange/core/risk.hpp>
#include <exchange/core/self_trade.hpp>

namespace exchange {
namespace {

struct quoted {
    price_ticks price;
    contracts quantity;
};

quoted side_of(const enter_quote& it, order_side side) noexcept {
    return side == order_side::buy ? quoted{it.bid_price, it.bid_quantity}
                                   : quoted{it.ask_price, it.ask_quantity};
}

constexpr order_side both_sides[] = {order_side::buy, order_side::sell};

}  // namespace

void partition::handle(const enter_quote& it) noexcept { refuse_unless_done(it, quote(it)); }

reject_reason partition::quote(const enter_quote& it) noexcept {
    if (it.bid_quantity == 0 && it.ask_quantity == 0) return withdraw(it);
    reject_reason why = admit_entry(it.session, it.client_seq);
    if (why != reject_reason::none) return why;
    if (it.self_trade > self_trade_action::allow) return reject_reason::invalid_field;
    why = check_market(it.instrument);
    if (why != reject_reason::none) return why;
    const market& in = venue_.markets[number(it.instrument)];
    why = check_quote(it, in);
    if (why != reject_reason::none) return why;

    account& whose = account_of(it.session);
    if (is_struck(whose, in.terms.instrument.product)) return reject_reason::protection_struck;
    holding_index held = find_holding(whose, it.instrument);
    why = check_exposure(it, whose, venue_.holdings[held]);
    if (why != reject_reason::none) return why;
    // Asked as if neither price had a level yet, which at worst refuses a little too early.
    const level_memory& levels = venue_.memory.levels;
    if (!venue_.memory.orders.has(2) || (held == 0 && !venue_.holdings.has(1)) ||
        !levels.chunks.has(2) || !levels.nodes.has(2 * far_chunks::nodes_per_insert_max)) {
        return reject_reason::at_capacity;
    }
    if (held == 0) held = make_holding(whose, it.instrument);

    cancel_quote(it, held);
    quote_ = {it, held, it.bid_quantity != 0 ? order_side::buy : order_side::sell};
    stage_ = stage::quoting;
    quote_side(quote_.side);
    go_on();
    return reject_reason::none;
}

// It is a cancel, so no phase, no rate of entries and no kill switch is in its way.
reject_reason partition::withdraw(const enter_quote& it) noexcept {
    const reject_reason why = admit_cancel(it.session, it.client_seq);
    if (why != reject_reason::none) return why;
    if (it.self_trade > self_trade_action::allow) return reject_reason::invalid_field;
    if (!is_defined(it.instrument)) return reject_reason::unknown_instrument;
    const bool found = cancel_quote(it, find_holding(account_of(it.session), it.instrument));
    return found ? reject_reason::none : reject_reason::nothing_to_cancel;
}

bool partition::cancel_quote(const enter_quote& it, holding_index held) noexcept {
    bool found = false;
    for (const order_side side : both_sides) {
        const order_index old = venue_.holdings[held].quote[number(side)];
        const bool withdrawn = side_of(it, side).quantity == 0;
        if (old == 0) continue;
        found = true;
        matcher_.cancel(old, withdrawn ? cancel_reason::requested : cancel_reason::quote_replaced,
                        {it.session, it.client_seq});
    }
    return found;
}

reject_reason partition::check_quote(const enter_quote& it, const market& in) const noexcept {
    for (const order_side side : both_sides) {
        const auto [price, quantity] = side_of(it, side);
        if (quantity == 0) continue;
        reject_reason why = check_price(in.terms, price);
        if (why == reject_reason::none) why = check_quantity(in.terms, quantity);
        if (why == reject_reason::none) why = check_value(in.terms, {side, price, quantity});
        if (why != reject_reason::none) return why;
    }
    const bool two_sided = it.bid_quantity != 0 && it.ask_quantity != 0;
    if (two_sided && it.bid_price >= it.ask_price) return reject_reason::invalid_combination;
    return reject_reason::none;
}

reject_reason partition::check_exposure(const enter_quote& it, const account& whose,
                                        const holding& held) const noexcept {
    std::int64_t more_orders = 0;
    for (const order_side side : both_sides) {
        more_orders += side_of(it, side).quantity != 0 ? 1 : 0;
        more_orders -= held.quote[number(side)] != 0 ? 1 : 0;
    }
    for (const order_side side : both_sides) {
        const auto [price, quantity] = side_of(it, side);
        if (quantity == 0) continue;
        const order_index old = held.quote[number(side)];
        const contracts goes = old == 0 ? 0 : venue_.memory.orders[old].open;
        const reject_reason why =
            check_limits(whose, held, {side, quantity, std::int64_t{quantity} - goes, more_orders});
        if (why != reject_reason::none) return why;
    }
    return reject_reason::none;
}

bool partition::quote_some() noexcept {
    if (matcher_.under_way()) matcher_.proceed();
    if (matcher_.under_way()) return false;
    auto& [terms, held, side] = quote_;
    venue_.holdings[held].quote[number(side)] = matcher_.rested();
    if (side == order_side::sell || terms.ask_quantity == 0) {
        // Stops wait for both sides: one that arrived in between could take the room of the second.
        traded_in_ = &venue_.markets[number(terms.instrument)];
        finish_trading();
        return true;
    }
    side = order_side::sell;
    quote_side(side);
    return true;
}

void partition::quote_side(order_side side) noexcept {
    const enter_quote& it = quote_.terms;
    const auto [price, quantity] = side_of(it, side);
    matcher_.arrive(venue_.markets[number(it.instrument)],
                    {.limit = price,
                     .quantity = quantity,
                     .holding = quote_.held,
                     .client_seq = it.client_seq,
                     .session = it.session,
                     .side = side,
                     .tif = time_in_force::day,
                     .instruction = execution_instruction::none,
                     .self_trade = action_of(account_of(it.session), it.self_trade)});
}

}  // namespace exchange
