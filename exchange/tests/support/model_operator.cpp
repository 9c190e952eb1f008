// SPDX-License-Identifier: BSL-1.0
//
// The model, continued: what the operator and the timers may do.
#include <exchange/tests/support/model.hpp>

namespace exchange::testing {
template <class Command>
bool model::answer(const Command& it, std::uint32_t subject, reject_reason why) {
    if (why == reject_reason::none) say(admin_accepted{subject, it.kind});
    else say(admin_rejected{subject, it.kind, why});
    return why == reject_reason::none;
}

void model::handle(const define_product& it) {
    if (answer(it, number(it.product), why_no_product(it))) products_[it.product] = it;
}

reject_reason model::why_no_product(const define_product& it) const {
    using enum reject_reason;
    if (it.product == product_id::none) return invalid_definition;
    if (number(it.product) > limits_.products_max) return at_capacity;
    if (products_.contains(it.product)) return already_defined;
    bool sound = it.multiplier > 0 && it.lot > 0 && it.bands <= tick_bands_max;
    for (std::uint32_t each = 0; sound && each < it.bands; ++each) {
        sound = it.ticks[each].step >= 1 && is_price(it.ticks[each].step);
        if (each > 0) sound = sound && it.ticks[each - 1].from < it.ticks[each].from;
    }
    return sound ? none : invalid_definition;
}

void model::handle(const define_instrument& it) {
    if (!answer(it, number(it.instrument), why_no_instrument(it))) return;
    markets_[it.instrument].terms = it;
    markets_[it.instrument].product = products_.at(it.product);
}

reject_reason model::why_no_instrument(const define_instrument& it) const {
    using enum reject_reason;
    if (it.instrument == instrument_id::none) return invalid_definition;
    if (number(it.instrument) > limits_.instruments_max) return at_capacity;
    if (markets_.contains(it.instrument)) return already_defined;
    const bool sound =
        within(it.type, instrument_kind::future, instrument_kind::put) &&
        within(it.lone_orders, lone_order_policy::cancel, lone_order_policy::reject) &&
        is_price(it.strike) && is_price(it.settlement_price) && is_price(it.collar) &&
        it.collar >= 0 && it.order_value_max >= 0;
    if (!sound) return invalid_definition;
    return products_.contains(it.product) ? none : unknown_product;
}

void model::handle(const define_account& it) {
    if (answer(it, number(it.account), why_no_account(it))) accounts_[it.account].terms = it;
}

reject_reason model::why_no_account(const define_account& it) const {
    using enum reject_reason;
    if (it.account == account_id::none) return invalid_definition;
    if (number(it.account) > limits_.accounts_max) return at_capacity;
    if (accounts_.contains(it.account)) return already_defined;
    const bool decided =
        within(it.self_trade, self_trade_action::cancel_resting, self_trade_action::decrement);
    const bool sound = decided && it.firm != firm_id::none && it.position_max >= 0;
    return sound ? none : invalid_definition;
}

void model::handle(const define_session& it) {
    if (!answer(it, number(it.session), why_no_session(it))) return;
    sessions_[it.session] = {it, client_sequence::none};
}

reject_reason model::why_no_session(const define_session& it) const {
    using enum reject_reason;
    if (it.session == session_id::none) return invalid_definition;
    if (number(it.session) > limits_.sessions_max) return at_capacity;
    if (sessions_.contains(it.session)) return already_defined;
    if (!accounts_.contains(it.account)) return unknown_account;
    const bool sound =
        within(it.on_disconnect, disconnect_policy::keep_orders, disconnect_policy::cancel_orders);
    return sound ? none : invalid_definition;
}

void model::handle(const set_phase& it) {
    reject_reason why = reject_reason::none;
    if (!markets_.contains(it.instrument)) why = reject_reason::unknown_instrument;
    else if (!within(it.phase, market_phase::closed, market_phase::halted)) {
        why = reject_reason::invalid_field;
    }
    if (!answer(it, number(it.instrument), why)) return;
    markets_.at(it.instrument).phase = it.phase;
    say(phase_changed{it.instrument, it.phase});
}

void model::handle(const set_account_state& it) {
    reject_reason why = reject_reason::none;
    if (!accounts_.contains(it.account)) why = reject_reason::unknown_account;
    else if (!within(it.state, account_state::active, account_state::blocked)) {
        why = reject_reason::invalid_field;
    }
    if (!answer(it, number(it.account), why)) return;
    accounts_.at(it.account).state = it.state;
    if (it.state != account_state::blocked) return;
    cancel_where([&](const model_order& each) { return each.account == it.account; },
                 cancel_reason::kill_switch, client_sequence::none);
}

void model::handle(const set_settlement_price& it) {
    reject_reason why = reject_reason::none;
    if (!markets_.contains(it.instrument)) why = reject_reason::unknown_instrument;
    else if (!is_price(it.settlement_price)) why = reject_reason::invalid_price;
    if (!answer(it, number(it.instrument), why)) return;
    markets_.at(it.instrument).terms.settlement_price = it.settlement_price;
}

void model::handle(const end_session& it) {
    const bool known = sessions_.contains(it.session);
    if (!answer(it, number(it.session),
                known ? reject_reason::none : reject_reason::unknown_session)) {
        return;
    }
    if (sessions_.at(it.session).terms.on_disconnect == disconnect_policy::keep_orders) return;
    cancel_where([&](const model_order& each) { return each.terms.session == it.session; },
                 cancel_reason::session_ended, client_sequence::none);
}

void model::handle(const end_day& it) {
    const bool known = markets_.contains(it.instrument);
    if (!answer(it, number(it.instrument),
                known ? reject_reason::none : reject_reason::unknown_instrument)) {
        return;
    }
    model_market& in = markets_.at(it.instrument);
    std::vector<order_id> ending;
    for (auto at = in.buys.rbegin(); at != in.buys.rend(); ++at) {
        ending.insert(ending.end(), at->second.begin(), at->second.end());
    }
    for (const auto& [price, ids] : in.sells) ending.insert(ending.end(), ids.begin(), ids.end());
    for (const order_id id : ending) {
        if (orders_.at(id).terms.tif == time_in_force::day) {
            cancel(id, cancel_reason::day_ended, client_sequence::none);
        }
    }
    in.day = {};
    in.day.instrument = it.instrument;
    say(volume_update{0, it.instrument, 0});
    say(in.day);
}

}  // namespace exchange::testing
