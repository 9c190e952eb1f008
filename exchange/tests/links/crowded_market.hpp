// SPDX-License-Identifier: BSL-1.0
//
// An exchange for a crowd: a few markets in which all clients trade, and a session with an account
// for each.
#pragma once

#include <exchange/net/application/order_entry_host.hpp>

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>

namespace exchange::testing {

inline constexpr std::uint16_t crowd_size = 64;
inline constexpr std::uint32_t crowd_markets = 4;
inline constexpr std::uint32_t crowd_holdings_max = crowd_size * crowd_markets;
inline constexpr std::string_view crowd_password = "secret";

/// The name of a member of the crowd, from 1.
[[nodiscard]] inline std::string crowd_name(std::uint16_t member) {
    return "t" + std::to_string(member);
}

[[nodiscard]] inline order_entry_host_options crowd_rules() {
    order_entry_host_options options;
    options.sequencing.limits = {.products_max = 1,
                                 .instruments_max = crowd_markets,
                                 .accounts_max = crowd_size,
                                 .sessions_max = crowd_size,
                                 .orders_max = 8192,
                                 .holdings_max = crowd_holdings_max,
                                 .level_chunks_max = 256,
                                 .far_nodes_max = 64};
    for (std::uint16_t member = 1; member <= crowd_size; ++member)
        options.participants.push_back({std::string_view{crowd_name(member)},
                                        std::string{crowd_password}, session_id{member}});
    // On a loaded machine a listener may be seconds behind, and must still find what it has missed.
    options.feed.kept_bytes_max = std::size_t{64} << 20;
    options.feed.kept_messages_max = std::size_t{1} << 20;
    options.feed.unsent_bytes_max = 2 * options.feed.kept_bytes_max;
    options.feed.heartbeat_after = std::chrono::milliseconds{100};
    return options;
}

/// Every second session loses its orders with its connection.
[[nodiscard]] inline disconnect_policy crowd_policy(std::uint16_t member) noexcept {
    return member % 2 == 0 ? disconnect_policy::cancel_orders : disconnect_policy::keep_orders;
}

inline void open_crowded_market(order_entry_host& on) {
    define_product product{};
    product.product = product_id{1};
    product.multiplier = 1;
    product.lot = 1;
    on.apply(product);
    for (std::uint32_t market = 1; market <= crowd_markets; ++market) {
        define_instrument instrument{};
        instrument.instrument = instrument_id{market};
        instrument.product = product_id{1};
        instrument.type = instrument_kind::future;
        instrument.market_band = 10;
        on.apply(instrument);
    }
    constexpr std::array self_trades{
        self_trade_action::cancel_resting, self_trade_action::cancel_aggressor,
        self_trade_action::cancel_both, self_trade_action::decrement, self_trade_action::allow};
    for (std::uint16_t member = 1; member <= crowd_size; ++member) {
        define_account account{};
        account.account = account_id{member};
        account.firm = firm_id{1};
        account.group = self_trade_group{member};
        account.self_trade = self_trades[member % self_trades.size()];
        account.open_orders_max = 40;
        on.apply(account);
        on.apply(define_session{session_id{member}, account.account, crowd_policy(member)});
    }
    for (std::uint32_t market = 1; market <= crowd_markets; ++market)
        on.apply(set_phase{instrument_id{market}, market_phase::continuous});
}

}  // namespace exchange::testing
