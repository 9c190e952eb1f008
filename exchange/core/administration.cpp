// SPDX-License-Identifier: BSL-1.0
//
// What the operator and the timers may do: define, open and close, block, end sessions and days.
//
// The answer comes first in its event, so that it is not behind the thousand cancels that it causes.
#include <exchange/core/partition.hpp>

namespace exchange {
namespace {

// A number that is taken, or beyond the table, or fine.
template <class Table, class IsDefined>
reject_reason check_number(std::size_t number, const Table& table, IsDefined is_defined) noexcept {
    if (number == 0) return reject_reason::invalid_definition;
    if (number >= table.size()) return reject_reason::at_capacity;
    return is_defined() ? reject_reason::already_defined : reject_reason::none;
}

bool is_known(market_phase it) noexcept {
    return it >= market_phase::closed && it <= market_phase::halted;
}

bool is_known(account_state it) noexcept {
    return it == account_state::active || it == account_state::blocked;
}

// Says how a command went; true if it went well.
template <class Command>
bool answer(publisher& out, const Command& it, std::uint32_t subject, reject_reason why) noexcept {
    if (why == reject_reason::none) {
        out.accepted(admin_accepted{.subject = subject, .command = it.kind});
        return true;
    }
    out.refused(admin_rejected{.subject = subject, .command = it.kind, .reason = why});
    return false;
}

}  // namespace

void partition::handle(const define_product& it) noexcept {
    if (!answer(out_, it, number(it.product), check(it))) return;
    venue_.products[number(it.product)] = it;
}

reject_reason partition::check(const define_product& it) const noexcept {
    const reject_reason why = check_number(number(it.product), venue_.products, [&] {
        return venue_.products[number(it.product)].product == it.product;
    });
    if (why != reject_reason::none) return why;
    return is_sound(it) ? reject_reason::none : reject_reason::invalid_definition;
}

void partition::handle(const define_instrument& it) noexcept {
    if (!answer(out_, it, number(it.instrument), check(it))) return;
    market& made = venue_.markets[number(it.instrument)];
    made.terms = {it, venue_.products[number(it.product)]};
    made.phase = market_phase::closed;
    made.day.instrument = it.instrument;
    made.told.instrument = it.instrument;
}

reject_reason partition::check(const define_instrument& it) const noexcept {
    const reject_reason why = check_number(number(it.instrument), venue_.markets,
                                           [&] { return is_defined(it.instrument); });
    if (why != reject_reason::none) return why;
    if (!is_sound(it)) return reject_reason::invalid_definition;
    const bool known = it.product != product_id::none &&
                       number(it.product) < venue_.products.size() &&
                       venue_.products[number(it.product)].product == it.product;
    return known ? reject_reason::none : reject_reason::unknown_product;
}

void partition::handle(const define_account& it) noexcept {
    if (!answer(out_, it, number(it.account), check(it))) return;
    account& made = venue_.accounts[number(it.account)];
    made.terms = it;
    made.state = account_state::active;
}

reject_reason partition::check(const define_account& it) const noexcept {
    const reject_reason why =
        check_number(number(it.account), venue_.accounts, [&] { return is_defined(it.account); });
    if (why != reject_reason::none) return why;
    // The account is where an order's `account_default` ends, so it has to say something.
    const bool sound = it.firm != firm_id::none &&
                       it.self_trade >= self_trade_action::cancel_resting &&
                       it.self_trade <= self_trade_action::decrement && it.position_max >= 0;
    return sound ? reject_reason::none : reject_reason::invalid_definition;
}

void partition::handle(const define_session& it) noexcept {
    if (!answer(out_, it, number(it.session), check(it))) return;
    venue_.sessions[number(it.session)] = {it.account, client_sequence::none, it.on_disconnect};
}

reject_reason partition::check(const define_session& it) const noexcept {
    const reject_reason why =
        check_number(number(it.session), venue_.sessions, [&] { return is_defined(it.session); });
    if (why != reject_reason::none) return why;
    if (!is_defined(it.account)) return reject_reason::unknown_account;
    const bool sound = it.on_disconnect <= disconnect_policy::cancel_orders;
    return sound ? reject_reason::none : reject_reason::invalid_definition;
}

void partition::handle(const set_phase& it) noexcept {
    reject_reason why = reject_reason::none;
    if (!is_defined(it.instrument)) why = reject_reason::unknown_instrument;
    else if (!is_known(it.phase)) why = reject_reason::invalid_field;
    if (!answer(out_, it, number(it.instrument), why)) return;
    venue_.markets[number(it.instrument)].phase = it.phase;
    out_.changed(phase_changed{.instrument = it.instrument, .phase = it.phase});
}

void partition::handle(const set_account_state& it) noexcept {
    reject_reason why = reject_reason::none;
    if (!is_defined(it.account)) why = reject_reason::unknown_account;
    else if (!is_known(it.state)) why = reject_reason::invalid_field;
    if (!answer(out_, it, number(it.account), why)) return;
    account& whose = venue_.accounts[number(it.account)];
    whose.state = it.state;
    if (it.state == account_state::blocked) {
        cancel_all(whose, cancel_reason::kill_switch, session_id::none);
    }
}

void partition::handle(const set_settlement_price& it) noexcept {
    reject_reason why = reject_reason::none;
    if (!is_defined(it.instrument)) why = reject_reason::unknown_instrument;
    else if (it.settlement_price < -price_ticks_max || it.settlement_price > price_ticks_max) {
        why = reject_reason::invalid_price;
    }
    if (!answer(out_, it, number(it.instrument), why)) return;
    venue_.markets[number(it.instrument)].terms.instrument.settlement_price = it.settlement_price;
}

void partition::handle(const end_session& it) noexcept {
    const bool known = is_defined(it.session);
    const reject_reason why = known ? reject_reason::none : reject_reason::unknown_session;
    if (!answer(out_, it, number(it.session), why)) return;
    if (venue_.sessions[number(it.session)].on_disconnect == disconnect_policy::keep_orders) return;
    cancel_all(account_of(it.session), cancel_reason::session_ended, it.session);
}

void partition::handle(const end_day& it) noexcept {
    const bool known = is_defined(it.instrument);
    const reject_reason why = known ? reject_reason::none : reject_reason::unknown_instrument;
    if (!answer(out_, it, number(it.instrument), why)) return;
    market& in = venue_.markets[number(it.instrument)];
    for (const order_side side : {order_side::buy, order_side::sell}) {
        const level_memory& levels = venue_.memory.levels;
        for (level_index level = in.book.best(side); level != 0;) {
            // Looked up first: the level goes with its last order.
            const level_index behind = in.book.of(side).after(levels, level);
            for (order_index at = levels.chunks.level(level).first; at != 0;) {
                const order_index next = venue_.memory.orders[at].next;
                if (venue_.memory.orders[at].tif == time_in_force::day) {
                    matcher_.cancel(at, cancel_reason::day_ended, client_sequence::none);
                }
                at = next;
            }
            level = behind;
        }
    }
    in.day = {.open = 0,
              .high = 0,
              .low = 0,
              .last = 0,
              .volume = 0,
              .instrument = it.instrument,
              .trades = 0};
    out_.day_ended(in);
}

}  // namespace exchange
