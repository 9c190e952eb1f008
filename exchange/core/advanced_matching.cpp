// SPDX-License-Identifier: BSL-1.0
//
// What happens to advanced orders beside what happens to every order: see matcher.hpp.
//
// A stop stands in the lists of its owner from the beginning, and counts as open there; only its place is
// in `stop_book` instead of in the book. An iceberg's order has what it shows, and so have the sums of its
// level; what it hides stands in its `advanced_terms`, while it rests and at no other time.
#include <exchange/core/matcher.hpp>

#include <algorithm>
#include <utility>

namespace exchange {

// ---------------------------------------------------------------------------------------------
// Arriving, and waiting
// ---------------------------------------------------------------------------------------------

void matcher::arrive(market& in, const new_order& it, const new_terms& terms) noexcept {
    const order_index index = make(it);
    order& made = venue_->memory.orders[index];
    made.advanced = true;
    advanced_terms& more = venue_->memory.advanced[index];
    more = {.trigger = terms.trigger,
            .display = terms.display,
            .hidden = 0,
            .minimum = terms.minimum,
            .expiry_yyyymmdd = terms.expiry_yyyymmdd,
            .dated_next = 0,
            .dated_previous = 0,
            .type = terms.type,
            .waits = is_stop(terms.type)};
    out_->has_terms(in, made, more, venue_->holdings[made.holding].account);
    if (more.waits) return wait(in, index);
    set_out(in, index, destiny::arrives, more.minimum);
}

void matcher::wait(market& in, order_index index) noexcept {
    const order& it = venue_->memory.orders[index];
    holding& held = venue_->holdings[it.holding];
    in.stops.add(venue_->memory, index);
    held.open[number(it.side)] += it.open;
    enlist(index);
    out_->waits(in, it, held.account);
}

void matcher::trigger(market& in, order_index index) noexcept {
    order& it = venue_->memory.orders[index];
    advanced_terms& terms = venue_->memory.advanced[index];
    holding& held = venue_->holdings[it.holding];
    in.stops.remove(venue_->memory, index);
    terms.waits = false;
    held.open[number(it.side)] -= it.open;
    const bool at_market = is_at_market(terms.type);
    const bool unbounded = at_market && !is_protected(in);
    if (at_market) {
        it.tif = time_in_force::immediate_or_cancel;
        if (!unbounded) it.price = price_at_market(in, it.side).limit;
    }
    out_->triggered(in, it, held.account);
    if (unbounded) return drop_triggered(in, index, cancel_reason::no_price_protection);
    if (may_rest(in, it) && !in.book.has_room(venue_->memory, it.side, it.price))
        return drop_triggered(in, index, cancel_reason::at_capacity);
    set_out(in, index, destiny::triggered, terms.minimum);
}

void matcher::drop_triggered(market& in, order_index index, cancel_reason reason) noexcept {
    order& it = venue_->memory.orders[index];
    cancel_aggressor(in, it, it.open, reason);
    forget(index);
    venue_->memory.orders.give_back(index);
}

void matcher::cancel_stop(market& in, order_index index, cancel_reason reason,
                          request_name request) noexcept {
    const order& it = venue_->memory.orders[index];
    in.stops.remove(venue_->memory, index);
    forget(index);
    out_->cancelled_unseen(in, it,
                           {venue_->holdings[it.holding].account, it.open, reason, request});
    venue_->memory.orders.give_back(index);
}

void matcher::amend_stop(order_index index, const stop_change& to, request_name request) noexcept {
    order& it = venue_->memory.orders[index];
    advanced_terms& terms = venue_->memory.advanced[index];
    market& in = market_of(it);
    holding& held = venue_->holdings[it.holding];
    const bool moves = to.trigger != terms.trigger;
    const bool keeps_place = !moves && to.price == it.price && to.quantity <= it.open;
    if (!keeps_place) in.stops.remove(venue_->memory, index);
    held.open[number(it.side)] -= it.open;
    held.open[number(it.side)] += to.quantity;
    terms.trigger = to.trigger;
    it.price = to.price;
    it.open = to.quantity;
    if (!keeps_place) in.stops.add(venue_->memory, index);
    out_->amended_unseen(in, it,
                         {held.account, keeps_place ? amend_priority::kept : amend_priority::lost,
                          amend_reason::requested, request});
    if (moves) out_->trigger_changed(in, it, terms, held.account, request);
}

// ---------------------------------------------------------------------------------------------
// What an iceberg shows
// ---------------------------------------------------------------------------------------------

void matcher::hide(order_index index) noexcept {
    order& it = venue_->memory.orders[index];
    advanced_terms& terms = venue_->memory.advanced[index];
    if (terms.display == 0 || it.open <= terms.display) return;
    terms.hidden = it.open - terms.display;
    it.open = terms.display;
}

// All that it showed has been filled, and it has left its level. There is room at it: it stood there.
void matcher::show_more(market& in, order_index index) noexcept {
    order& it = venue_->memory.orders[index];
    it.open = std::exchange(venue_->memory.advanced[index].hidden, 0u);
    hide(index);
    in.book.add(venue_->memory, index);
    out_->regains_place(in, it);
}

contracts matcher::take_hidden(order_index index, contracts by) noexcept {
    advanced_terms& terms = venue_->memory.advanced[index];
    const contracts hidden = std::min(terms.hidden, by);
    terms.hidden -= hidden;
    venue_->memory.hidden[venue_->memory.orders[index].level] -= hidden;
    return hidden;
}

// ---------------------------------------------------------------------------------------------
// Last days
// ---------------------------------------------------------------------------------------------

void matcher::note_expiry(order_index index) noexcept {
    advanced_table& table = venue_->memory.advanced;
    const std::uint32_t last_day = table[index].expiry_yyyymmdd;
    if (last_day == 0) return;
    table.link_dated(index);
    venue_->next_expiry = std::min(venue_->next_expiry, end_of_expiry(last_day));
}

void matcher::forget_expiry(order_index index) noexcept {
    advanced_table& table = venue_->memory.advanced;
    if (table[index].expiry_yyyymmdd != 0) table.unlink_dated(index);
}

}  // namespace exchange
