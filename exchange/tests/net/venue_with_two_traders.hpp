// SPDX-License-Identifier: BSL-1.0
//
// The smallest exchange that can trade: one market, two traders, an operator.
//
// Tests of the host, of sessions and of whole facilities start from it.
#pragma once

#include <exchange/net/application/order_entry_host.hpp>

namespace exchange::testing {

inline constexpr session_id alice{1};
inline constexpr session_id bob{2};
inline constexpr instrument_id the_market{1};

inline soup_login login_of(std::string_view name, std::uint64_t sequence = 1) {
    return {.username = name, .password = "secret", .session = {}, .sequence = sequence};
}

[[nodiscard]] inline order_entry_host_options two_traders() {
    order_entry_host_options options;
    options.sequencing.limits = {.products_max = 4,
                                 .instruments_max = 4,
                                 .accounts_max = 8,
                                 .sessions_max = 8,
                                 .orders_max = 4096,
                                 .holdings_max = 64,
                                 .level_chunks_max = 256,
                                 .far_nodes_max = 64};
    options.participants = {{"alice", "secret", alice}, {"bob", "secret", bob}};
    options.operators = {{"ops", "secret", operator_role::administrator}};
    options.operator_connections_max = 1;
    options.logins.delay_first = {};  // Tests that are about it say so.
    constexpr auto always = []() noexcept { return timestamp_ns{1'000'000'000}; };
    options.sequencing.clocks = {.wall = always, .steady = always};
    return options;
}

/// What the operator would have defined before the day begins.
///
/// @param  on_disconnect  Of both traders.
inline void open_market(order_entry_host& on,
                        disconnect_policy on_disconnect = disconnect_policy::keep_orders) {
    define_product product{};
    product.product = product_id{1};
    product.multiplier = 1;
    product.lot = 1;
    on.apply(product);
    define_instrument instrument{};
    instrument.instrument = the_market;
    instrument.product = product_id{1};
    instrument.type = instrument_kind::future;
    on.apply(instrument);
    for (const session_id each : {alice, bob}) {
        define_account account{};
        account.account = account_id{number(each)};
        account.firm = firm_id{1};
        account.self_trade = self_trade_action::cancel_resting;
        on.apply(account);
        on.apply(define_session{each, account.account, on_disconnect});
    }
    on.apply(set_phase{the_market, market_phase::continuous});
}

[[nodiscard]] inline enter_order limit(client_sequence client_seq, order_side side,
                                       price_ticks price, contracts quantity) {
    enter_order it{};
    it.client_seq = client_seq;
    it.instrument = the_market;
    it.side = side;
    it.type = order_type::limit;
    it.tif = time_in_force::good_till_cancel;
    it.price = price;
    it.quantity = quantity;
    return it;
}

/// What is answered to a session that has not asked before; none: to who may ask about all.
[[nodiscard]] inline std::span<const std::byte> answer_of(order_entry_host& to,
                                                          std::span<const std::byte> question,
                                                          session_id session = alice) {
    timestamp_ns queries_until = 0;
    constexpr gyre::time_point now{std::chrono::hours{1}};
    if (session != session_id::none)
        return to.answer(to.participants()[number(session) - 1u], question, now, queries_until);
    segment_pool memory{{.bytes_max = 2 * segment_bytes_usual}};
    release_list<participant> none;
    const participant watcher{{.what = told::all}, {.session = "W"}, memory, none};
    return to.answer(watcher, question, now, queries_until);
}

/// Cancels by the client's own number, before any acknowledgement if need be.
[[nodiscard]] inline cancel_order cancel_of(client_sequence client_seq, client_sequence target) {
    return {session_id::none, client_seq, {order_id::none, target}};
}

}  // namespace exchange::testing
