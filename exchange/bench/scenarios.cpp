// SPDX-License-Identifier: BSL-1.0
//
// See the header.
#include <exchange/bench/scenarios.hpp>

namespace exchange::bench {
namespace {

constexpr std::uint32_t swept_orders = 10;
constexpr contracts swept_quantity = 10;
constexpr std::uint32_t quoted_markets = 100;

}  // namespace

std::string_view title(scenario_name which) noexcept {
    switch (which) {
        case scenario_name::place_and_cancel: return "1 place GTC, cancel";
        case scenario_name::ioc_without_execution: return "2 IOC, no execution";
        case scenario_name::fok_without_execution: return "2b FOK, no execution";
        case scenario_name::amend_quantity: return "3 amend quantity";
        case scenario_name::trade: return "4 trade";
        case scenario_name::sweep_one_level: return "5 sweep, same level";
        case scenario_name::sweep_adjacent_levels: return "6 sweep, adjacent levels";
        case scenario_name::sweep_sparse_levels: return "7 sweep, sparse levels";
        case scenario_name::mass_cancel: return "8 mass cancel";
    }
    return "";
}

scenario::scenario(scenario_name which, book_state state)
    : which_{which}, state_{state}, sequences_(background_first + background_accounts) {}

partition_limits scenario::limits() {
    partition_limits limits;
    limits.instruments_max = 128;
    limits.accounts_max = 128;
    limits.sessions_max = 128;
    limits.orders_max = 1u << 17;
    limits.holdings_max = 1u << 15;
    return limits;
}

std::uint32_t scenario::derived() const noexcept {
    switch (which_) {
        case scenario_name::place_and_cancel: return 8;
        case scenario_name::ioc_without_execution: return 1;
        case scenario_name::fok_without_execution: return 1;
        case scenario_name::amend_quantity: return 4;
        case scenario_name::trade: return 10;
        case scenario_name::sweep_one_level:
        case scenario_name::sweep_adjacent_levels:
        case scenario_name::sweep_sparse_levels: return 100;
        case scenario_name::mass_cancel: return 800;
    }
    return 0;
}

std::uint32_t scenario::inbound() const noexcept {
    return which_ == scenario_name::place_and_cancel ? 2 : 1;
}

std::uint32_t scenario::markets() const noexcept {
    return which_ == scenario_name::mass_cancel ? quoted_markets : 1;
}

price_ticks scenario::half_gap() const noexcept {
    return which_ == scenario_name::sweep_sparse_levels ? 600 : 10;
}

client_sequence scenario::next_seq(std::uint16_t session) {
    return client_sequence{++sequences_[session]};
}

// Numbers that do not depend on the standard library's: a golden stream must not change with it.
std::uint32_t scenario::random_below(std::uint32_t end) {
    random_ = random_ * 6'364'136'223'846'793'005 + 1'442'695'040'888'963'407;
    return static_cast<std::uint32_t>((random_ >> 32) * end >> 32);
}

enter_order scenario::limit_order(std::uint16_t session, order_side side, price_ticks price,
                                  contracts quantity, time_in_force tif) {
    return {.session = session_id{session},
            .client_seq = next_seq(session),
            .instrument = instrument_id{1},
            .side = side,
            .type = order_type::limit,
            .tif = tif,
            .instruction = execution_instruction::none,
            .self_trade = self_trade_action::account_default,
            .price = price,
            .quantity = quantity};
}

std::vector<command> scenario::prepare() {
    std::vector<command> made;
    made.push_back(define_product{product_id{1}, 10, 1, 0, {}});
    for (std::uint32_t each = 1; each <= markets(); ++each) {
        made.push_back(define_instrument{.instrument = instrument_id{each},
                                         .product = product_id{1},
                                         .type = instrument_kind::future,
                                         .lone_orders = lone_order_policy::reject,
                                         .expiry_yyyymmdd = 20'301'220,
                                         .strike = 0,
                                         .settlement_price = middle,
                                         .collar = 10'000,
                                         .order_quantity_max = 0,
                                         .order_value_max = 0});
        made.push_back(set_phase{instrument_id{each}, market_phase::continuous});
    }
    for (std::uint16_t each = 1; each < background_first + background_accounts; ++each) {
        made.push_back(define_account{.account = account_id{each},
                                      .firm = firm_id{each},
                                      .group = self_trade_group::none,
                                      .self_trade = self_trade_action::cancel_resting,
                                      .order_quantity_max = 0,
                                      .open_orders_max = 0,
                                      .messages_per_second_max = 0,
                                      .position_max = 0});
        made.push_back(
            define_session{session_id{each}, account_id{each}, disconnect_policy::cancel_orders});
    }
    if (state_ == book_state::filled) {
        const bool many = which_ == scenario_name::mass_cancel;
        for (std::uint32_t each = 1; each <= markets(); ++each) {
            fill_book(made, instrument_id{each}, many ? 100 : 1'000, many ? 5 : 10);
        }
    }
    if (which_ == scenario_name::amend_quantity) {
        amended_.assign(state_ == book_state::filled ? amended_orders : 1, 0x7fff'ffff);
        for (const contracts quantity : amended_) {
            made.push_back(limit_order(maker, order_side::buy, middle - half_gap(), quantity));
        }
    }
    return made;
}

void scenario::fill_book(std::vector<command>& to, instrument_id in, std::uint32_t levels,
                         std::uint32_t orders_per_level) {
    for (std::uint32_t each = 0; each < levels * orders_per_level; ++each) {
        const price_ticks away = half_gap() + each % levels;
        for (const order_side side : {order_side::buy, order_side::sell}) {
            const auto session =
                static_cast<std::uint16_t>(background_first + random_below(background_accounts));
            const price_ticks price = side == order_side::buy ? middle - away : middle + away;
            enter_order it = limit_order(session, side, price, 1 + random_below(100));
            it.instrument = in;
            to.push_back(it);
        }
    }
}

price_ticks scenario::sweep_price(std::uint32_t at) const noexcept {
    if (which_ == scenario_name::sweep_one_level) return middle;
    const price_ticks apart = which_ == scenario_name::sweep_sparse_levels ? 97 : 1;
    return middle - apart * (swept_orders / 2) + apart * at;
}

void scenario::before(std::vector<command>& to) {
    switch (which_) {
        case scenario_name::trade:
            to.push_back(limit_order(maker, order_side::sell, middle, swept_quantity));
            return;
        case scenario_name::sweep_one_level:
        case scenario_name::sweep_adjacent_levels:
        case scenario_name::sweep_sparse_levels:
            for (std::uint32_t each = 0; each < swept_orders; ++each) {
                to.push_back(
                    limit_order(maker, order_side::sell, sweep_price(each), swept_quantity));
            }
            return;
        case scenario_name::mass_cancel:
            for (std::uint32_t each = 1; each <= markets(); ++each) {
                to.push_back(enter_quote{.session = session_id{maker},
                                         .client_seq = next_seq(maker),
                                         .instrument = instrument_id{each},
                                         .self_trade = self_trade_action::account_default,
                                         .bid_price = middle - 5,
                                         .ask_price = middle + 5,
                                         .bid_quantity = 10,
                                         .ask_quantity = 10});
            }
            return;
        case scenario_name::place_and_cancel:
        case scenario_name::ioc_without_execution:
        case scenario_name::fok_without_execution:
        case scenario_name::amend_quantity: return;
    }
}

void scenario::measured(std::vector<command>& to) {
    switch (which_) {
        case scenario_name::place_and_cancel: {
            const enter_order it = limit_order(taker, order_side::buy, middle - half_gap() + 1, 10);
            to.push_back(it);
            to.push_back(
                cancel_order{session_id{taker}, next_seq(taker), {order_id::none, it.client_seq}});
            return;
        }
        case scenario_name::ioc_without_execution:
            to.push_back(limit_order(taker, order_side::buy, middle + half_gap() - 1, 10,
                                     time_in_force::immediate_or_cancel));
            return;
        case scenario_name::fok_without_execution:
            // Fifty levels of ten orders of at most 100 cannot fill so much.
            to.push_back(limit_order(taker, order_side::buy, middle + half_gap() + 49, 50'001,
                                     time_in_force::fill_or_kill));
            return;
        case scenario_name::amend_quantity: {
            const std::uint32_t target = random_below(static_cast<std::uint32_t>(amended_.size()));
            to.push_back(amend_order{session_id{maker},
                                     next_seq(maker),
                                     {order_id::none, client_sequence{target + 1}},
                                     middle - half_gap(),
                                     --amended_[target]});
            return;
        }
        case scenario_name::trade:
            to.push_back(limit_order(taker, order_side::buy, middle, swept_quantity));
            return;
        case scenario_name::sweep_one_level:
        case scenario_name::sweep_adjacent_levels:
        case scenario_name::sweep_sparse_levels:
            to.push_back(limit_order(taker, order_side::buy, sweep_price(swept_orders - 1),
                                     swept_orders * swept_quantity));
            return;
        case scenario_name::mass_cancel:
            to.push_back(cancel_orders{session_id{maker}, next_seq(maker), account_id{maker},
                                       instrument_id::none, side_filter::both});
            return;
    }
}

}  // namespace exchange::bench
