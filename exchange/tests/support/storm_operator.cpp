// SPDX-License-Identifier: BSL-1.0
//
// The storm, continued: what the operator does, at first and in between.
#include <exchange/tests/support/storm.hpp>

namespace exchange::testing {
namespace {

// Some accounts are alone in their group and meet only themselves, some have company.
std::uint32_t group_of(std::uint32_t account) {
    if (account % 3 == 0) return 1 + account / 6 % 2;
    return account % 5 == 0 ? 1 : 0;
}

}  // namespace

// Accounts have two sessions each. Every fourth account has limits, every third a group.
std::vector<command> storm::definitions() const {
    std::vector<command> made;
    made.push_back(define_product{product_id{1}, 1, 1, 0, {}});
    made.push_back(define_product{product_id{2}, 50, 5, 2, {{-1'000, 5}, {1'000, 10}}});
    for (std::uint32_t each = 1; each <= instruments; ++each) {
        const bool strict = each == 2;
        const bool sparse = shape_ == storm_shape::wide_sparse;
        made.push_back(define_instrument{
            .instrument = instrument_id{each},
            .product = product_id{strict ? 2u : 1u},
            .type = strict ? instrument_kind::call : instrument_kind::future,
            .lone_orders = each == 3 ? lone_order_policy::cancel : lone_order_policy::reject,
            .expiry_yyyymmdd = 20'301'220,
            .strike = 0,
            .settlement_price = 1'000,
            .collar = each == 3 || sparse ? 0 : 200,
            .order_quantity_max = strict ? 200u : 0u,
            .order_value_max = strict ? 6'000'000 : 0});
        made.push_back(set_phase{instrument_id{each}, market_phase::continuous});
    }
    for (std::uint32_t each = 1; each <= accounts(); ++each) {
        const bool limited = each % 4 == 0;
        made.push_back(
            define_account{.account = account_id{each},
                           .firm = firm_id{each / 2 + 1},
                           .group = self_trade_group{group_of(each)},
                           .self_trade = self_trade_action{static_cast<std::uint8_t>(1 + each % 4)},
                           .order_quantity_max = limited ? 80u : 0u,
                           .open_orders_max = limited ? 12u : 0u,
                           .messages_per_second_max = limited ? 50u : 0u,
                           .position_max = limited ? (each % 8 == 0 ? 100 : 300) : 0});
        for (std::uint32_t half = 0; half < 2; ++half) {
            made.push_back(define_session{
                session_id{static_cast<std::uint16_t>(2 * each - 1 + half)}, account_id{each},
                half == 0 ? disconnect_policy::cancel_orders : disconnect_policy::keep_orders});
        }
    }
    return made;
}

command storm::operator_command() {
    const account_id account{1 + below(accounts())};
    const bool wrong = chance(100);
    switch (below(11)) {
        case 0: return end_day{wrong ? instrument_id{0} : any_instrument()};
        case 1: return end_session{wrong ? session_id{511} : any_session()};
        case 2: {
            const auto state = wrong ? account_state{9} : account_state::blocked;
            return set_account_state{chance(50) ? account_id{256} : account, state};
        }
        case 3: {
            const price_ticks price = wrong ? price_ticks_max + 1 : 950 + below(100);
            return set_settlement_price{wrong && chance(500) ? instrument_id{9} : any_instrument(),
                                        price};
        }
        case 4:
            return set_phase{any_instrument(),
                             market_phase{static_cast<std::uint8_t>(1 + below(4))}};
        case 5:
        case 6:
        case 7: return any_definition();
        default: break;
    }
    // What was stopped goes on before long.
    if (below(2) == 0) return set_account_state{account, account_state::active};
    return set_phase{wrong ? instrument_id{9} : any_instrument(), market_phase::continuous};
}

// Of something new, of what is there already, beyond the table, or nonsense.
command storm::any_definition() {
    switch (below(4)) {
        case 0: return any_product();
        case 1: return any_terms();
        case 2: return any_account();
        default: break;
    }
    const auto session = static_cast<std::uint16_t>(below(600));
    const account_id account{chance(500) ? 1 + below(accounts()) : below(300)};
    const auto policy = static_cast<std::uint8_t>(below(chance(500) ? 2 : 4));
    return define_session{session_id{session}, account, disconnect_policy{policy}};
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

define_instrument storm::any_terms() {
    const std::uint32_t instrument = chance(700) ? 4 + below(5) : below(11);
    define_instrument it{.instrument = instrument_id{instrument},
                         .product = product_id{1},
                         .type = instrument_kind::put,
                         .lone_orders = lone_order_policy::reject,
                         .expiry_yyyymmdd = 20'301'220,
                         .strike = 1'000,
                         .settlement_price = 1'000,
                         .collar = 0,
                         .order_quantity_max = 0,
                         .order_value_max = 0};
    switch (below(16)) {
        case 0: it.type = instrument_kind{0}; break;
        case 1: it.lone_orders = lone_order_policy{2}; break;
        case 2: it.strike = price_ticks_max + 1; break;
        case 3: it.settlement_price = -price_ticks_max - 1; break;
        case 4: it.collar = -1; break;
        case 5: it.order_value_max = -1; break;
        case 6: it.product = product_id::none; break;
        case 7: it.product = product_id{5}; break;
        default: break;
    }
    return it;
}

define_account storm::any_account() {
    define_account it{.account = account_id{below(300)},
                      .firm = firm_id{1},
                      .group = self_trade_group{below(3)},
                      .self_trade = self_trade_action::cancel_both,
                      .order_quantity_max = 0,
                      .open_orders_max = 0,
                      .messages_per_second_max = 0,
                      .position_max = 0};
    switch (below(8)) {
        case 0: it.firm = firm_id::none; break;
        case 1: it.self_trade = self_trade_action::account_default; break;
        case 2: it.self_trade = self_trade_action{5}; break;
        case 3: it.position_max = -1; break;
        default: break;
    }
    return it;
}

}  // namespace exchange::testing
