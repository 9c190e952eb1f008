// SPDX-License-Identifier: BSL-1.0
//
// The storm, continued: what there is at first, and what becomes of it by later definitions.
#include <exchange/tests/support/storm.hpp>

namespace exchange::testing {
namespace {

// Some accounts are alone in their group, some have company, most have none.
std::uint32_t group_of(std::uint32_t account) {
    if (account % 3 == 0) return 1 + account / 6 % 2;
    return account % 5 == 0 ? 1 : 0;
}

firm_id firm_of(std::uint32_t account) { return firm_id{account / 2 + 1}; }

define_product lasting_product(std::uint32_t product) {
    if (product == 2) return {product_id{2}, 50, 5, 2, {{-1'000, 5}, {1'000, 10}}};
    return {product_id{product}, 1, 1, 0, {}};
}

self_trade_action self_trade_of(std::uint32_t account) {
    return self_trade_action{static_cast<std::uint8_t>(1 + account % 5)};
}

// Every fourth has limits: one of them may send in bursts, the next one may cancel in bursts.
define_account lasting_account(std::uint32_t account) {
    const bool limited = account % 4 == 0;
    const bool eighth = account % 8 == 0;
    return {.account = account_id{account},
            .firm = firm_of(account),
            .group = self_trade_group{group_of(account)},
            .self_trade = self_trade_of(account),
            .order_quantity_max = limited ? 80u : 0u,
            .open_orders_max = limited ? 12u : 0u,
            .messages_per_second_max = limited ? 50u : 0u,
            .position_max = limited ? (eighth ? 100 : 300) : 0,
            .message_burst_max = eighth ? 5u : 0u,
            .cancels_per_second_max = limited ? 20u : 0u,
            .cancel_burst_max = limited && !eighth ? 3u : 0u};
}

}  // namespace

// Market orders: the first market bounds them twice, the others once each; without collars, where prices
// are wide, the second not at all. The fourth market is not open yet.
define_instrument storm::lasting_terms(std::uint32_t instrument) const {
    const bool strict = instrument == 2;
    const bool sparse = shape_ == storm_shape::wide_sparse;
    const bool loose = instrument >= 3;
    return {.instrument = instrument_id{instrument},
            .product = product_id{strict ? 2u : 1u},
            .type = strict ? instrument_kind::call : instrument_kind::future,
            .lone_orders = loose ? lone_order_policy::cancel : lone_order_policy::reject,
            .expiry_yyyymmdd = strict  ? 20'301'220u
                               : loose ? 20'301'221u
                                       : 0u,
            .strike = 0,
            .settlement_price = 1'000,
            .collar = loose || sparse ? 0 : 200,
            .order_quantity_max = strict ? 200u : 0u,
            .order_value_max = strict ? 6'000'000 : 0,
            .market_band = strict ? 0 : 8};
}

// Accounts have two sessions each. Where midnight is seen, two more markets are open, of which the first
// expires.
std::vector<command> storm::definitions() const {
    std::vector<command> made;
    for (std::uint32_t each = 1; each <= 2; ++each) made.push_back(lasting_product(each));
    for (std::uint32_t each = 1; each <= instruments; ++each) {
        made.push_back(lasting_terms(each));
        made.push_back(set_phase{instrument_id{each}, market_phase::continuous});
        // The third has none at first.
        if (each < instruments) {
            const bool sparse = shape_ == storm_shape::wide_sparse;
            made.push_back(set_interruption{instrument_id{each}, sparse ? 1'000'000 : 12,
                                            each * 500'000'000ull});
        }
    }
    made.push_back(lasting_terms(instruments + 1));
    if (sees_midnight()) {
        made.push_back(lasting_product(3));
        for (std::uint32_t each = instruments + 2; each <= instruments + 3; ++each) {
            define_instrument it = lasting_terms(each);
            it.expiry_yyyymmdd = each % 2 == 0 ? 0 : 20'301'220u;
            made.push_back(it);
            made.push_back(set_phase{instrument_id{each}, market_phase::continuous});
        }
    }
    const std::uint32_t passing = restless() ? passing_accounts / 2 : 0;
    for (std::uint32_t each = 1; each <= accounts() + passing; ++each) {
        made.push_back(lasting_account(each));
        for (std::uint32_t half = 0; half < 2; ++half) {
            made.push_back(define_session{
                session_id{static_cast<std::uint16_t>(2 * each - 1 + half)}, account_id{each},
                half == 0 ? disconnect_policy::cancel_orders : disconnect_policy::keep_orders});
        }
    }
    return made;
}

// Of something new, of what is there or was there, beyond the table, or nonsense.
command storm::any_definition() {
    definition_action action{static_cast<std::uint8_t>(below(2))};
    if (chance(15)) action = definition_action{static_cast<std::uint8_t>(2 + below(254))};
    const bool changes = action == definition_action::change;
    switch (below(4)) {
        case 0: {
            define_product it = changes ? any_product_change() : any_product();
            it.action = action;
            return it;
        }
        case 1: {
            define_instrument it = changes ? any_terms_change() : any_terms();
            it.action = action;
            return it;
        }
        case 2: return any_account(action);
        default: return any_session_definition(action);
    }
}

define_product storm::any_product() {
    define_product it{product_id{below(7)}, 1, 1, 2, {{-1'000, 5}, {1'000, 10}}};
    switch (below(10)) {
        case 0: it.lot = 0; break;
        case 1: it.multiplier = 0; break;
        case 2: it.bands = 5; break;
        case 3: it.ticks[1].step = 0; break;
        case 4: it.ticks[1].from = -1'000; break;
        default: break;
    }
    return it;
}

define_product storm::any_product_change() {
    define_product it = lasting_product(chance(500)   ? 1 + below(2)
                                        : chance(700) ? 3 + below(2)
                                                      : below(7));
    it.lot = any_of({1u, 1u, 1u, 5u});
    if (chance(400)) it.bands = 0;
    if (chance(200)) {
        it.bands = 1 + below(2);
        it.ticks[0] = {0, any_of<price_ticks>({1, 1, 2})};
        it.ticks[1] = {990 + price_ticks{below(20)}, any_of<price_ticks>({1, 2})};
    }
    switch (below(10)) {
        case 0:
        case 1: it.multiplier = 3; break;
        case 2: it.lot = 0; break;
        default: break;
    }
    return it;
}

// Some days are over, some never were.
define_instrument storm::any_terms() {
    const std::uint32_t instrument = chance(700) ? 4 + below(5) : below(11);
    define_instrument it{.instrument = instrument_id{instrument},
                         .product = product_id{chance(600) ? 1 : below(7)},
                         .type = instrument_kind::put,
                         .lone_orders = lone_order_policy::reject,
                         .expiry_yyyymmdd = any_of(
                             {0u, 20'301'220u, 20'301'221u, 22'001'231u, 20'320'229u, 20'300'101u}),
                         .strike = 1'000,
                         .settlement_price = 1'000,
                         .collar = 0,
                         .order_quantity_max = 0,
                         .order_value_max = 0,
                         .market_band = any_of<price_ticks>({0, 0, 5})};
    spoil(it);
    return it;
}

// Instrument 1 lasts. Where collars are narrow, orders that rest are soon outside.
define_instrument storm::any_terms_change() {
    const std::uint32_t instrument = chance(600) ? 1 + below(instruments) : below(11);
    const bool lasts = instrument >= 1 && instrument <= instruments + 1;
    define_instrument it = lasts ? lasting_terms(instrument) : any_terms();
    it.instrument = instrument_id{instrument};
    const bool sparse = shape_ == storm_shape::wide_sparse;
    it.settlement_price = 980 + below(40);
    it.collar = sparse ? any_of<price_ticks>({0, 0, 200, 1'000'000})
                       : any_of<price_ticks>({0, 0, 0, 200, 200, 30, 8});
    it.market_band = any_of<price_ticks>({0, 0, 3, 50});
    it.lone_orders = lone_order_policy{static_cast<std::uint8_t>(below(2))};
    if (chance(200)) it.order_quantity_max = 30;
    if (chance(200)) it.order_value_max = 100'000;
    if (instrument != 1) {
        it.expiry_yyyymmdd =
            any_of({0u, 20'301'220u, 20'301'221u, 20'301'221u, 20'991'231u, 20'301'219u});
    }
    switch (below(20)) {
        case 0: it.strike = 999; break;
        case 1: it.type = instrument_kind{static_cast<std::uint8_t>(1 + below(3))}; break;
        case 2: it.product = product_id{below(6)}; break;
        default: break;
    }
    if (chance(150)) spoil(it);
    return it;
}

// In half of all cases it is as good as it was.
void storm::spoil(define_instrument& it) {
    switch (below(22)) {
        case 0: it.type = instrument_kind{0}; break;
        case 1: it.lone_orders = lone_order_policy{2}; break;
        case 2: it.strike = price_ticks_max + 1; break;
        case 3: it.settlement_price = -price_ticks_max - 1; break;
        case 4: it.collar = -1; break;
        case 5: it.order_value_max = -1; break;
        case 6: it.product = product_id::none; break;
        case 7: it.product = product_id{5}; break;
        case 8: it.market_band = chance(500) ? -1 : price_ticks_max + 1; break;
        case 9:
        case 10:
            it.expiry_yyyymmdd = any_of({20'301'131u, 20'310'229u, 21'000'229u, 19'691'231u,
                                         22'010'101u, 20'301'301u, 20'301'200u, 7u});
            break;
        default: break;
    }
}

define_account storm::any_account(definition_action action) {
    define_account it = lasting_account(number(whose()));
    it.action = action;
    if (action == definition_action::change && chance(800)) {
        it.group = self_trade_group{below(3)};
        it.self_trade = self_trade_action{static_cast<std::uint8_t>(1 + below(5))};
        it.order_quantity_max = any_of({0u, 0u, 80u});
        it.open_orders_max = any_of({0u, 0u, 12u});
        it.messages_per_second_max = any_of({0u, 50u, 5u, 3'000'000'000u});
        it.message_burst_max = any_of({0u, 1u, 4u, ~0u});
        it.cancels_per_second_max = any_of({0u, 50u, 5u, 3'000'000'000u});
        it.cancel_burst_max = any_of({0u, 1u, 4u, ~0u});
        it.position_max = any_of<std::int64_t>({0, 0, 100});
    }
    switch (below(16)) {
        case 0: it.firm = firm_id::none; break;
        case 1: it.self_trade = self_trade_action::account_default; break;
        case 2: it.self_trade = self_trade_action{6}; break;
        case 3: it.position_max = -1; break;
        case 4:
        case 5: it.firm = firm_id{99}; break;
        default: break;
    }
    return it;
}

// Mostly of the account that owns this number in every storm.
define_session storm::any_session_definition(definition_action action) {
    std::uint32_t session = chance(650) ? 1 + below(2u * accounts()) : 430 + below(170);
    if (chance(40)) session = 0;
    if (chance(500)) session = 2u * accounts() + 1 + below(2 * passing_accounts);
    const account_id account = chance(700) ? account_id{(session + 1) / 2} : whose();
    const auto policy = static_cast<std::uint8_t>(below(chance(800) ? 2 : 4));
    return {session_id{static_cast<std::uint16_t>(session)}, account, disconnect_policy{policy},
            action};
}

}  // namespace exchange::testing
