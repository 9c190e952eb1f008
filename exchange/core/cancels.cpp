// SPDX-License-Identifier: BSL-1.0
//
// See the header; and how one order is cancelled, or both sides of a quote.
#include <exchange/core/cancels.hpp>

#include <exchange/core/partition.hpp>

namespace exchange {
namespace {

const ladder& part_of(const market& in, mass_cancel::part which) noexcept {
    using enum mass_cancel::part;
    switch (which) {
        case bids: return in.book.of(order_side::buy);
        case asks: return in.book.of(order_side::sell);
        case stops_to_buy: return in.stops.of(order_side::buy);
        case stops_to_sell: break;
    }
    return in.stops.of(order_side::sell);
}

// What rests though it may not wait is an order at the market, of an auction that was not ended.
bool ends_with_day(time_in_force it) noexcept {
    return it == time_in_force::day || it == time_in_force::immediate_or_cancel;
}

}  // namespace

void partition::handle(const cancel_order& it) noexcept { refuse_unless_done(it, cancel(it)); }

reject_reason partition::cancel(const cancel_order& it) noexcept {
    const reject_reason why = admit_cancel(it.session, it.client_seq);
    if (why != reject_reason::none) return why;
    const order_index index = find(it.session, it.target);
    if (index == 0) return reject_reason::unknown_order;
    const request_name request{it.session, it.client_seq};
    const order& found = venue_.memory.orders[index];
    const auto sides = venue_.holdings[found.holding].quote;
    if (sides[number(found.side)] != index) {
        matcher_.cancel(index, cancel_reason::requested, request);
        return reject_reason::none;
    }
    for (const order_index side : sides) {
        if (side != 0) matcher_.cancel(side, cancel_reason::requested, request);
    }
    return reject_reason::none;
}

void partition::handle(const cancel_orders& it) noexcept { refuse_unless_done(it, cancel(it)); }

reject_reason partition::cancel(const cancel_orders& it) noexcept {
    const reject_reason why = admit_cancel(it.session, it.client_seq);
    if (why != reject_reason::none) return why;
    if (it.sides > side_filter::sell) return reject_reason::invalid_field;
    if (it.account != account_of(it.session).terms.account) return reject_reason::not_permitted;
    const bool everywhere = it.instrument == instrument_id::none;
    if (!everywhere && !is_defined(it.instrument)) return reject_reason::unknown_instrument;
    begin_cancelling({.account = it.account,
                      .market = static_cast<std::uint16_t>(number(it.instrument)),
                      .session = session_id::none,
                      .sides = it.sides,
                      .only_day_orders = false,
                      .reason = cancel_reason::mass_cancel,
                      .request = {it.session, it.client_seq},
                      .progress = {}});
    go_on();
    return reject_reason::none;
}

void partition::cancel_all(account_id whose, cancel_reason reason, session_id of) noexcept {
    begin_cancelling({.account = whose,
                      .market = 0,
                      .session = of,
                      .sides = side_filter::both,
                      .only_day_orders = false,
                      .reason = reason,
                      .request = {},
                      .progress = {}});
}

void partition::cancel_all(const market& in, cancel_reason reason) noexcept {
    begin_cancelling({.account = account_id::none,
                      .market = static_cast<std::uint16_t>(number(in.terms.instrument.instrument)),
                      .session = session_id::none,
                      .sides = side_filter::both,
                      .only_day_orders = reason == cancel_reason::day_ended,
                      .reason = reason,
                      .request = {},
                      .progress = {}});
}

// ---------------------------------------------------------------------------------------------
// Many, in steps
// ---------------------------------------------------------------------------------------------

void partition::begin_cancelling(const mass_cancel& which) noexcept {
    cancelling_ = which;
    stage_ = stage::cancelling;
    if (which.account != account_id::none)
        cancelling_.progress.next = venue_.accounts[number(which.account)].first_order;
    else cancelling_.progress.behind = venue_.markets[which.market].book.best(order_side::buy);
}

bool partition::cancel_some() noexcept {
    mass_cancel& it = cancelling_;
    while (const order_index at = next_to_cancel()) {
        if (work_.spent()) return false;
        const order& each = venue_.memory.orders[at];
        it.progress.next = it.account != account_id::none ? each.account_next : each.next;
        const std::uint16_t market = venue_.holdings[each.holding].market;
        const bool this_side = it.sides == side_filter::both ||
                               (each.side == order_side::buy) == (it.sides == side_filter::buy);
        const bool meant = this_side && (it.market == 0 || market == it.market) &&
                           (it.session == session_id::none || each.session == it.session) &&
                           (!it.only_day_orders || ends_with_day(each.tif));
        work_.spend(meant ? work_of_cancel : work_of_look);
        if (!meant) continue;
        it.progress.found = true;
        matcher_.cancel(at, it.reason, it.request);
    }
    stage_ = stage::idle;
    finish_cancelling();
    return true;
}

// Looks up the price behind before the orders of a price go, since a price goes with its last order.
order_index partition::next_to_cancel() noexcept {
    auto& [next, behind, where, found] = cancelling_.progress;
    if (next != 0 || cancelling_.account != account_id::none) return next;
    const level_memory& levels = venue_.memory.levels;
    const market& in = venue_.markets[cancelling_.market];
    while (behind == 0 && where != mass_cancel::part::stops_to_sell) {
        where = static_cast<mass_cancel::part>(number(where) + 1);
        behind = part_of(in, where).best();
    }
    if (behind == 0) return 0;
    next = levels.chunks.level(behind).first;
    behind = part_of(in, where).after(levels, behind);
    return next;
}

void partition::finish_cancelling() noexcept {
    const mass_cancel& it = cancelling_;
    if (it.reason == cancel_reason::mass_cancel && !it.progress.found) {
        out_.refused(order_rejected{.order = order_id::none,
                                    .instrument = instrument_id{it.market},
                                    .client_seq = it.request.client_seq,
                                    .session = it.request.session,
                                    .command = command_kind::cancel_orders,
                                    .reason = reject_reason::nothing_to_cancel});
    } else if (it.reason == cancel_reason::day_ended) {
        market& in = venue_.markets[it.market];
        const instrument_id instrument = in.terms.instrument.instrument;
        in.day = {};
        in.day.instrument = instrument;
        end_day_of(in);
        out_.summed(in);
        finish();
    } else if (it.reason == cancel_reason::expired) {
        stage_ = stage::expiring;
    }
}

}  // namespace exchange
