// SPDX-License-Identifier: BSL-1.0
//
// The model, continued: what there is, and what of it may change.
#include <exchange/tests/support/model.hpp>

#include <exchange/tests/support/model_calendar.hpp>

namespace exchange::testing {
namespace {

// What a definition finds under its number.
enum class found { nothing, in_use, out_of_use };

struct numbered {
    std::uint32_t number;
    std::uint32_t max;
    definition_action action;
    reject_reason unknown;  // Why a change of nothing is refused.
};

reject_reason why_not_this(const numbered& it, found there) {
    using enum reject_reason;
    if (it.number == 0) return invalid_definition;
    if (!within(it.action, definition_action::create, definition_action::change)) {
        return invalid_definition;
    }
    if (it.number > it.max) return at_capacity;
    if (it.action == definition_action::create) {
        return there == found::nothing ? none : already_defined;
    }
    if (there == found::nothing) return it.unknown;
    return there == found::out_of_use ? out_of_use : none;
}

bool changes(definition_action it) { return it == definition_action::change; }

}  // namespace

// ---------------------------------------------------------------------------------------------
// Products
// ---------------------------------------------------------------------------------------------

void model::handle(const define_product& it) {
    if (answer(it, number(it.product), why_no_product(it))) products_[it.product].terms = it;
}

reject_reason model::why_no_product(const define_product& it) const {
    using enum reject_reason;
    const auto at = products_.find(it.product);
    found there = found::nothing;
    if (at != products_.end()) there = at->second.retired ? found::out_of_use : found::in_use;
    const auto why =
        why_not_this({number(it.product), limits_.products_max, it.action, unknown_product}, there);
    if (why != none) return why;
    bool sound = it.multiplier > 0 && it.lot > 0 && it.bands <= tick_bands_max;
    for (std::uint32_t each = 0; sound && each < it.bands; ++each) {
        sound = it.ticks[each].step >= 1 && is_price(it.ticks[each].step);
        if (each > 0) sound = sound && it.ticks[each - 1].from < it.ticks[each].from;
    }
    if (!sound) return invalid_definition;
    if (changes(it.action) && it.multiplier != at->second.terms.multiplier) return not_changeable;
    return none;
}

// ---------------------------------------------------------------------------------------------
// Instruments
// ---------------------------------------------------------------------------------------------

void model::handle(const define_instrument& it) {
    if (answer(it, number(it.instrument), why_no_instrument(it))) {
        markets_[it.instrument].terms = it;
    }
}

reject_reason model::why_no_instrument(const define_instrument& it) const {
    using enum reject_reason;
    const auto at = markets_.find(it.instrument);
    found there = found::nothing;
    if (at != markets_.end()) {
        const bool ended = at->second.phase == market_phase::ended;
        there = ended ? found::out_of_use : found::in_use;
    }
    const auto why = why_not_this(
        {number(it.instrument), limits_.instruments_max, it.action, unknown_instrument}, there);
    if (why != none) return why;
    const bool sound =
        within(it.type, instrument_kind::future, instrument_kind::put) &&
        within(it.lone_orders, lone_order_policy::cancel, lone_order_policy::reject) &&
        (it.expiry_yyyymmdd == 0 || is_date(it.expiry_yyyymmdd)) && is_price(it.strike) &&
        is_price(it.settlement_price) && is_price(it.collar) && it.collar >= 0 &&
        is_price(it.market_band) && it.market_band >= 0 && it.order_value_max >= 0;
    if (!sound) return invalid_definition;
    if (changes(it.action)) {
        const define_instrument& old = at->second.terms;
        const bool same =
            it.product == old.product && it.type == old.type && it.strike == old.strike;
        return same ? none : not_changeable;
    }
    const auto product = products_.find(it.product);
    if (product == products_.end()) return unknown_product;
    return product->second.retired ? out_of_use : none;
}

// ---------------------------------------------------------------------------------------------
// Accounts and sessions
// ---------------------------------------------------------------------------------------------

void model::handle(const define_account& it) {
    if (answer(it, number(it.account), why_no_account(it))) accounts_[it.account].terms = it;
}

reject_reason model::why_no_account(const define_account& it) const {
    using enum reject_reason;
    const auto at = accounts_.find(it.account);
    found there = found::nothing;
    if (at != accounts_.end()) {
        const bool retired = at->second.state == account_state::retired;
        there = retired ? found::out_of_use : found::in_use;
    }
    const auto why =
        why_not_this({number(it.account), limits_.accounts_max, it.action, unknown_account}, there);
    if (why != none) return why;
    const bool decided =
        within(it.self_trade, self_trade_action::cancel_resting, self_trade_action::allow);
    if (!decided || it.firm == firm_id::none || it.position_max < 0) return invalid_definition;
    if (changes(it.action) && it.firm != at->second.terms.firm) return not_changeable;
    return none;
}

void model::handle(const define_session& it) {
    if (answer(it, number(it.session), why_no_session(it))) sessions_[it.session].terms = it;
}

reject_reason model::why_no_session(const define_session& it) const {
    using enum reject_reason;
    const auto at = sessions_.find(it.session);
    found there = found::nothing;
    if (at != sessions_.end()) there = at->second.retired ? found::out_of_use : found::in_use;
    const auto why =
        why_not_this({number(it.session), limits_.sessions_max, it.action, unknown_session}, there);
    if (why != none) return why;
    const auto account = accounts_.find(it.account);
    if (account == accounts_.end()) return unknown_account;
    if (account->second.state == account_state::retired) return out_of_use;
    const bool sound =
        within(it.on_disconnect, disconnect_policy::keep_orders, disconnect_policy::cancel_orders);
    if (!sound) return invalid_definition;
    if (changes(it.action) && it.account != at->second.terms.account) return not_changeable;
    return none;
}

}  // namespace exchange::testing
