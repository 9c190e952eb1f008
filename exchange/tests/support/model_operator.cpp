// SPDX-License-Identifier: BSL-1.0
//
// The model, continued: what the operator and the timers may do with what there is.
#include <exchange/tests/support/model.hpp>

namespace exchange::testing {

void model::handle(const set_account_state& it) {
    using enum reject_reason;
    const auto why_not = [&] {
        const auto at = accounts_.find(it.account);
        if (at == accounts_.end()) return unknown_account;
        if (at->second.state == account_state::retired) return out_of_use;
        const bool known = within(it.state, account_state::active, account_state::blocked);
        return known ? none : invalid_field;
    };
    if (!answer(it, number(it.account), why_not())) return;
    accounts_.at(it.account).state = it.state;
    if (it.state != account_state::blocked) return;
    cancel_where([&](const model_order& each) { return each.account == it.account; },
                 cancel_reason::kill_switch);
}

void model::handle(const set_settlement_price& it) {
    using enum reject_reason;
    const auto why_not = [&] {
        const auto at = markets_.find(it.instrument);
        if (at == markets_.end()) return unknown_instrument;
        if (at->second.phase == market_phase::ended) return out_of_use;
        return is_price(it.settlement_price) ? none : invalid_price;
    };
    if (!answer(it, number(it.instrument), why_not())) return;
    markets_.at(it.instrument).terms.settlement_price = it.settlement_price;
}

void model::handle(const end_session& it) {
    const auto why = knows(it.session) ? reject_reason::none : reject_reason::unknown_session;
    if (!answer(it, number(it.session), why)) return;
    if (sessions_.at(it.session).terms.on_disconnect == disconnect_policy::keep_orders) return;
    cancel_where([&](const model_order& each) { return each.terms.session == it.session; },
                 cancel_reason::session_ended);
}

void model::handle(const end_day& it) {
    using enum reject_reason;
    const auto why_not = [&] {
        const auto at = markets_.find(it.instrument);
        if (at == markets_.end()) return unknown_instrument;
        return at->second.phase == market_phase::ended ? out_of_use : none;
    };
    if (answer(it, number(it.instrument), why_not())) finish_day(it.instrument);
}

void model::handle(const set_position& it) {
    if (!answer(it, number(it.account), why_no_position(it))) return;
    holdings_.insert({it.account, it.instrument});
    accounts_.at(it.account).position[it.instrument] = it.position;
}

reject_reason model::why_no_position(const set_position& it) const {
    using enum reject_reason;
    const auto whose = accounts_.find(it.account);
    if (whose == accounts_.end()) return unknown_account;
    if (whose->second.state == account_state::retired) return out_of_use;
    const auto in = markets_.find(it.instrument);
    if (in == markets_.end()) return unknown_instrument;
    if (in->second.phase == market_phase::ended) return out_of_use;
    if (it.position > position_limit || it.position < -position_limit) return invalid_quantity;
    if (in->second.phase != market_phase::closed) return not_permitted;
    return has_holding(it.account, it.instrument) ? none : at_capacity;
}

}  // namespace exchange::testing
