// SPDX-License-Identifier: BSL-1.0
//
// The model, continued: what ends for good, by its date or because the operator says so.
#include <exchange/tests/support/model.hpp>

#include <exchange/tests/support/model_calendar.hpp>

namespace exchange::testing {

bool model::is_over(const model_market& in) const {
    const std::uint32_t last_day = in.terms.expiry_yyyymmdd;
    return last_day != 0 && now_ >= end_of_day(last_day);
}

void model::end_market(instrument_id in, cancel_reason why) {
    model_market& market = markets_.at(in);
    market.phase = market_phase::ended;
    say(phase_changed{in, market_phase::ended});
    for (const order_id id : in_priority(in)) cancel(id, why);
}

void model::handle(const expire_instruments& it) {
    answer(it, 0, reject_reason::none);
    for (const auto& [id, market] : markets_) {
        if (market.phase != market_phase::ended && is_over(market)) {
            end_market(id, cancel_reason::expired);
        }
    }
    std::vector<order_id> over;
    for (const auto& [id, it] : orders_) {
        if (it.last_day != 0 && now_ >= end_of_day(it.last_day)) over.push_back(id);
    }
    for (const order_id id : over) cancel(id, cancel_reason::expired);
}

void model::handle(const retire& it) {
    if (!answer(it, it.number, why_no_retirement(it))) return;
    switch (it.what) {
        case definition_kind::product: products_.at(product_id{it.number}).retired = true; return;
        case definition_kind::instrument:
            return end_market(instrument_id{it.number}, cancel_reason::retired);
        case definition_kind::account: {
            const account_id whose{it.number};
            accounts_.at(whose).state = account_state::retired;
            cancel_where([&](const model_order& each) { return each.account == whose; },
                         cancel_reason::retired);
            return;
        }
        case definition_kind::session: {
            const session_id whose{static_cast<std::uint16_t>(it.number)};
            sessions_.at(whose).retired = true;
            cancel_where([&](const model_order& each) { return each.terms.session == whose; },
                         cancel_reason::retired);
            return;
        }
    }
}

reject_reason model::why_no_retirement(const retire& it) const {
    using enum reject_reason;
    switch (it.what) {
        case definition_kind::product: {
            const auto at = products_.find(product_id{it.number});
            if (at == products_.end()) return unknown_product;
            return at->second.retired ? out_of_use : none;
        }
        case definition_kind::instrument: {
            const auto at = markets_.find(instrument_id{it.number});
            if (at == markets_.end()) return unknown_instrument;
            return at->second.phase == market_phase::ended ? out_of_use : none;
        }
        case definition_kind::account: {
            const auto at = accounts_.find(account_id{it.number});
            if (at == accounts_.end()) return unknown_account;
            return at->second.state == account_state::retired ? out_of_use : none;
        }
        case definition_kind::session: {
            // The number of a command has more bits than that of a session.
            if (it.number > 0xffff) return unknown_session;
            const auto at = sessions_.find(session_id{static_cast<std::uint16_t>(it.number)});
            if (at == sessions_.end()) return unknown_session;
            return at->second.retired ? out_of_use : none;
        }
    }
    return invalid_field;
}

}  // namespace exchange::testing
