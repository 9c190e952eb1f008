// SPDX-License-Identifier: BSL-1.0
//
// What the operator and the timers may do: define, change and retire, block, end sessions, days and
// instruments, carry positions in. Phases are in auction.cpp.
//
// The answer comes first in its event, so that it is not behind the thousand cancels that it causes.
#include <exchange/core/partition.hpp>

#include <algorithm>

namespace exchange {
namespace {

// What there is under a number: nothing yet, something, or something that is no more.
enum class presence : std::uint8_t { none, defined, retired };

// Why a definition may not be about this number, or none.
template <class Command>
reject_reason check_number(const Command& it, std::size_t number, std::size_t table_size,
                           presence there, reject_reason unknown) noexcept {
    if (number == 0 || it.action > definition_action::change)
        return reject_reason::invalid_definition;
    if (number >= table_size) return reject_reason::at_capacity;
    if (it.action == definition_action::create)
        return there == presence::none ? reject_reason::none : reject_reason::already_defined;
    if (there == presence::none) return unknown;
    return there == presence::retired ? reject_reason::out_of_use : reject_reason::none;
}

constexpr presence present(bool defined, bool retired) noexcept {
    if (!defined) return presence::none;
    return retired ? presence::retired : presence::defined;
}

bool is_known(account_state it) noexcept {
    return it == account_state::active || it == account_state::blocked;
}

}  // namespace

// ---------------------------------------------------------------------------------------------
// Definitions, and their changes
// ---------------------------------------------------------------------------------------------

void partition::handle(const define_product& it) noexcept {
    if (!answer(out_, it, number(it.product), check(it))) return;
    venue_.products[number(it.product)].terms = it;
    if (it.action == definition_action::create) return;
    changed_ = it.product;
    scanned_ = 0;
    stage_ = stage::changing;
    go_on();
}

reject_reason partition::check(const define_product& it) const noexcept {
    const bool defined = is_defined(it.product);
    const product& old = venue_.products[defined ? number(it.product) : 0];
    const reject_reason why =
        check_number(it, number(it.product), venue_.products.size(), present(defined, old.retired),
                     reject_reason::unknown_product);
    if (why != reject_reason::none) return why;
    if (!is_sound(it)) return reject_reason::invalid_definition;
    const bool same = !defined || it.multiplier == old.terms.multiplier;
    return same ? reject_reason::none : reject_reason::not_changeable;
}

// Instruments hold a copy of what their product says.
bool partition::change_some() noexcept {
    for (; scanned_ < venue_.last_instrument; ++scanned_) {
        if (work_.spent()) return false;
        work_.spend(work_of_look);
        instrument_terms& terms = venue_.markets[scanned_ + 1].terms;
        if (terms.instrument.product == changed_)
            terms.product = venue_.products[number(changed_)].terms;
    }
    stage_ = stage::idle;
    return true;
}

void partition::handle(const define_instrument& it) noexcept {
    if (!answer(out_, it, number(it.instrument), check(it))) return;
    market& made = venue_.markets[number(it.instrument)];
    made.terms = {it, venue_.products[number(it.product)].terms};
    made.expires_at = end_of_expiry(it.expiry_yyyymmdd);
    venue_.next_expiry = std::min(venue_.next_expiry, made.expires_at);
    venue_.last_instrument = std::max(venue_.last_instrument, number(it.instrument));
    if (it.action == definition_action::change) return;
    made.phase = market_phase::closed;
    made.day.instrument = it.instrument;
    made.told.instrument = it.instrument;
}

reject_reason partition::check(const define_instrument& it) const noexcept {
    const bool defined = is_defined(it.instrument);
    const market& old = venue_.markets[defined ? number(it.instrument) : 0];
    const reject_reason why = check_number(it, number(it.instrument), venue_.markets.size(),
                                           present(defined, old.phase == market_phase::ended),
                                           reject_reason::unknown_instrument);
    if (why != reject_reason::none) return why;
    if (!is_sound(it)) return reject_reason::invalid_definition;
    if (defined) {
        const define_instrument& terms = old.terms.instrument;
        const bool same =
            it.product == terms.product && it.type == terms.type && it.strike == terms.strike;
        return same ? reject_reason::none : reject_reason::not_changeable;
    }
    if (!is_defined(it.product)) return reject_reason::unknown_product;
    const bool retired = venue_.products[number(it.product)].retired;
    return retired ? reject_reason::out_of_use : reject_reason::none;
}

void partition::handle(const define_account& it) noexcept {
    if (!answer(out_, it, number(it.account), check(it))) return;
    account& made = venue_.accounts[number(it.account)];
    made.terms = it;
    if (it.action == definition_action::create) made.state = account_state::active;
}

reject_reason partition::check(const define_account& it) const noexcept {
    const bool defined = is_defined(it.account);
    const account& old = venue_.accounts[defined ? number(it.account) : 0];
    const reject_reason why = check_number(it, number(it.account), venue_.accounts.size(),
                                           present(defined, old.state == account_state::retired),
                                           reject_reason::unknown_account);
    if (why != reject_reason::none) return why;
    // The account is where an order's `account_default` ends, so it has to say something.
    const bool sound = it.firm != firm_id::none &&
                       it.self_trade >= self_trade_action::cancel_resting &&
                       it.self_trade <= self_trade_action::allow && it.position_max >= 0;
    if (!sound) return reject_reason::invalid_definition;
    const bool same = !defined || it.firm == old.terms.firm;
    return same ? reject_reason::none : reject_reason::not_changeable;
}

void partition::handle(const define_session& it) noexcept {
    if (!answer(out_, it, number(it.session), check(it))) return;
    session& made = venue_.sessions[number(it.session)];
    made.account = it.account;
    made.on_disconnect = it.on_disconnect;
}

reject_reason partition::check(const define_session& it) const noexcept {
    const bool defined = is_defined(it.session);
    const session& old = venue_.sessions[defined ? number(it.session) : 0];
    reject_reason why = check_number(it, number(it.session), venue_.sessions.size(),
                                     present(defined, old.retired), reject_reason::unknown_session);
    if (why == reject_reason::none) why = check_present(it.account);
    if (why != reject_reason::none) return why;
    if (it.on_disconnect > disconnect_policy::cancel_orders)
        return reject_reason::invalid_definition;
    const bool same = !defined || it.account == old.account;
    return same ? reject_reason::none : reject_reason::not_changeable;
}

reject_reason partition::check_present(account_id whose) const noexcept {
    if (!is_defined(whose)) return reject_reason::unknown_account;
    const bool retired = venue_.accounts[number(whose)].state == account_state::retired;
    return retired ? reject_reason::out_of_use : reject_reason::none;
}

reject_reason partition::check_present(instrument_id in) const noexcept {
    if (!is_defined(in)) return reject_reason::unknown_instrument;
    const bool ended = venue_.markets[number(in)].phase == market_phase::ended;
    return ended ? reject_reason::out_of_use : reject_reason::none;
}

// ---------------------------------------------------------------------------------------------
// The end of definitions
// ---------------------------------------------------------------------------------------------

void partition::handle(const retire& it) noexcept {
    if (!answer(out_, it, it.number, check(it))) return;
    switch (it.what) {
        case definition_kind::product: venue_.products[it.number].retired = true; break;
        case definition_kind::instrument:
            end_market(venue_.markets[it.number], cancel_reason::retired);
            break;
        case definition_kind::account:
            venue_.accounts[it.number].state = account_state::retired;
            cancel_all(account_id{it.number}, cancel_reason::retired, session_id::none);
            break;
        case definition_kind::session: {
            session& gone = venue_.sessions[it.number];
            gone.retired = true;
            cancel_all(gone.account, cancel_reason::retired,
                       session_id{static_cast<std::uint16_t>(it.number)});
            break;
        }
    }
    go_on();
}

reject_reason partition::check(const retire& it) const noexcept {
    const auto out_of_use = [](bool retired) {
        return retired ? reject_reason::out_of_use : reject_reason::none;
    };
    switch (it.what) {
        case definition_kind::product:
            if (!is_defined(product_id{it.number})) return reject_reason::unknown_product;
            return out_of_use(venue_.products[it.number].retired);
        case definition_kind::instrument: return check_present(instrument_id{it.number});
        case definition_kind::account: return check_present(account_id{it.number});
        case definition_kind::session:
            // Asked before it is cut to a session's sixteen bits.
            if (it.number >= venue_.sessions.size() ||
                !is_defined(session_id{static_cast<std::uint16_t>(it.number)}))
                return reject_reason::unknown_session;
            return out_of_use(venue_.sessions[it.number].retired);
    }
    return reject_reason::invalid_field;
}

void partition::end_market(market& in, cancel_reason why) noexcept {
    in.phase = market_phase::ended;
    out_.changed(phase_changed{.instrument = in.terms.instrument.instrument, .phase = in.phase});
    cancel_all(in, why);
}

void partition::handle(const expire_instruments& it) noexcept {
    if (!answer(out_, it, 0, reject_reason::none)) return;
    scanned_ = 0;
    venue_.next_expiry = ~timestamp_ns{0};
    stage_ = stage::expiring;
    go_on();
}

// Up to the next instrument whose last day is over, whose orders are cancelled before it goes on here.
bool partition::expire_some() noexcept {
    while (scanned_ < venue_.last_instrument) {
        if (work_.spent()) return false;
        work_.spend(work_of_look);
        market& each = venue_.markets[++scanned_];
        const bool trades = each.terms.instrument.instrument != instrument_id::none &&
                            each.phase != market_phase::ended;
        if (!trades) continue;
        if (now_ >= each.expires_at) {
            end_market(each, cancel_reason::expired);
            return true;
        }
        venue_.next_expiry = std::min(venue_.next_expiry, each.expires_at);
    }
    dated_ = venue_.memory.advanced.first_dated();
    stage_ = stage::ending_orders;
    return true;
}

// ---------------------------------------------------------------------------------------------
// Switches
// ---------------------------------------------------------------------------------------------

void partition::handle(const set_account_state& it) noexcept {
    reject_reason why = check_present(it.account);
    if (why == reject_reason::none && !is_known(it.state)) why = reject_reason::invalid_field;
    if (!answer(out_, it, number(it.account), why)) return;
    venue_.accounts[number(it.account)].state = it.state;
    if (it.state == account_state::active) return;
    cancel_all(it.account, cancel_reason::kill_switch, session_id::none);
    go_on();
}

void partition::handle(const set_settlement_price& it) noexcept {
    reject_reason why = check_present(it.instrument);
    if (why == reject_reason::none &&
        (it.settlement_price < -price_ticks_max || it.settlement_price > price_ticks_max)) {
        why = reject_reason::invalid_price;
    }
    if (!answer(out_, it, number(it.instrument), why)) return;
    venue_.markets[number(it.instrument)].terms.instrument.settlement_price = it.settlement_price;
}

void partition::handle(const end_session& it) noexcept {
    const bool known = may_speak(it.session);
    const reject_reason why = known ? reject_reason::none : reject_reason::unknown_session;
    if (!answer(out_, it, number(it.session), why)) return;
    const session& ending = venue_.sessions[number(it.session)];
    if (ending.on_disconnect == disconnect_policy::keep_orders) return;
    cancel_all(ending.account, cancel_reason::session_ended, it.session);
    go_on();
}

void partition::handle(const end_day& it) noexcept {
    if (!answer(out_, it, number(it.instrument), check_present(it.instrument))) return;
    cancel_all(venue_.markets[number(it.instrument)], cancel_reason::day_ended);
    go_on();
}

void partition::handle(const set_position& it) noexcept {
    if (!answer(out_, it, number(it.account), check(it))) return;
    account& whose = venue_.accounts[number(it.account)];
    holding_index held = find_holding(whose, it.instrument);
    if (held == 0) held = make_holding(whose, it.instrument);
    venue_.holdings[held].position = it.position;
}

reject_reason partition::check(const set_position& it) const noexcept {
    reject_reason why = check_present(it.account);
    if (why == reject_reason::none) why = check_present(it.instrument);
    if (why != reject_reason::none) return why;
    if (it.position < -position_limit || it.position > position_limit)
        return reject_reason::invalid_quantity;
    if (venue_.markets[number(it.instrument)].phase != market_phase::closed)
        return reject_reason::not_permitted;
    const bool held = find_holding(venue_.accounts[number(it.account)], it.instrument) != 0;
    return held || venue_.holdings.has(1) ? reject_reason::none : reject_reason::at_capacity;
}

}  // namespace exchange
