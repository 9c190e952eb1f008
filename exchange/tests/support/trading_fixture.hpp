// SPDX-License-Identifier: BSL-1.0
//
// A partition with accounts that trade, and everything it said: where most tests of the core begin.
#pragma once

#include <exchange/core/partition.hpp>
#include <exchange/tests/support/describe.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace exchange::testing {

inline constexpr instrument_id future{1};

/// Small enough to make one for every test, sanitizers included.
[[nodiscard]] inline partition_limits small_limits() {
    partition_limits limits;
    limits.products_max = 4;
    limits.instruments_max = 8;
    limits.accounts_max = 64;
    limits.sessions_max = 64;
    limits.orders_max = 4'096;
    limits.holdings_max = 512;
    limits.level_chunks_max = 512;
    limits.far_nodes_max = 512;
    return limits;
}

[[nodiscard]] inline define_product any_product(product_id product = product_id{1}) {
    return {.product = product, .multiplier = 1, .lot = 1, .bands = 0, .ticks = {}};
}

[[nodiscard]] inline define_instrument any_instrument(instrument_id instrument = future) {
    return {.instrument = instrument,
            .product = product_id{1},
            .type = instrument_kind::future,
            .lone_orders = lone_order_policy::cancel,
            .expiry_yyyymmdd = 20'301'220,
            .strike = 0,
            .settlement_price = 100,
            .collar = 0,
            .order_quantity_max = 0,
            .order_value_max = 0};
}

[[nodiscard]] inline define_account any_account(std::uint32_t number) {
    return {.account = account_id{number},
            .firm = firm_id{number},
            .group = self_trade_group::none,
            .self_trade = self_trade_action::cancel_resting,
            .order_quantity_max = 0,
            .open_orders_max = 0,
            .messages_per_second_max = 0,
            .position_max = 0};
}

[[nodiscard]] inline define_session session_of(std::uint16_t session, std::uint32_t account) {
    return {.session = session_id{session},
            .account = account_id{account},
            .on_disconnect = disconnect_policy::cancel_orders};
}

/// The same order with room for advanced terms, and none of them yet.
[[nodiscard]] inline enter_advanced_order advanced(const enter_order& it) {
    return {.session = it.session,
            .client_seq = it.client_seq,
            .instrument = it.instrument,
            .side = it.side,
            .type = it.type,
            .tif = it.tif,
            .instruction = it.instruction,
            .self_trade = it.self_trade,
            .price = it.price,
            .trigger_price = 0,
            .quantity = it.quantity,
            .display_quantity = 0,
            .minimum_quantity = 0,
            .expiry_yyyymmdd = 0};
}

/// The same order, which waits for `trigger` before it arrives.
[[nodiscard]] inline enter_advanced_order stop(const enter_order& it, price_ticks trigger) {
    enter_advanced_order made = advanced(it);
    made.type = it.type == order_type::market ? order_type::stop : order_type::stop_limit;
    made.trigger_price = trigger;
    return made;
}

[[nodiscard]] inline enter_advanced_order iceberg(const enter_order& it, contracts display) {
    enter_advanced_order made = advanced(it);
    made.display_quantity = display;
    return made;
}

/// Product 1, future 1 in continuous trading, accounts and sessions 1 to 4, each its own firm.
class trading_fixture {
public:
    explicit trading_fixture(const partition_limits& limits = small_limits()) : partition_{limits} {
        tell(any_product());
        tell(any_instrument());
        tell(set_phase{future, market_phase::continuous});
        for (std::uint16_t each = 1; each <= 4; ++each) {
            tell(any_account(each));
            tell(session_of(each, each));
        }
    }

    /// Applies a command; `said()` is its event.
    template <class Command>
    const std::vector<event>& tell(const Command& it) {
        said_.clear();
        const auto take = [this](const event_batch& batch) {
            for (std::size_t at = 0; at < batch.events.size(); ++at) {
                said_.push_back(batch.events[at]);
                stamps_.push_back(batch.stamp(at));
            }
        };
        partition_.apply(++now_, it, event_sink::to(take));
        return said_;
    }

    /// A limit order of session 1 to 4, with the session's next sequence.
    const std::vector<event>& enter(std::uint16_t session, order_side side, contracts quantity,
                                    price_ticks price,
                                    time_in_force tif = time_in_force::good_till_cancel) {
        return tell(limit_order(session, side, quantity, price, tif));
    }
    [[nodiscard]] enter_order limit_order(std::uint16_t session, order_side side,
                                          contracts quantity, price_ticks price,
                                          time_in_force tif = time_in_force::good_till_cancel) {
        return {.session = session_id{session},
                .client_seq = next_seq(session),
                .instrument = future,
                .side = side,
                .type = order_type::limit,
                .tif = tif,
                .instruction = execution_instruction::none,
                .self_trade = self_trade_action::account_default,
                .price = price,
                .quantity = quantity};
    }
    /// Whatever stands under the session's sequence `target`.
    const std::vector<event>& cancel(std::uint16_t session, std::uint32_t target) {
        return tell(cancel_order{
            session_id{session}, next_seq(session), {order_id::none, client_sequence{target}}});
    }
    const std::vector<event>& amend(std::uint16_t session, std::uint32_t target, contracts quantity,
                                    price_ticks price) {
        return tell(amend_order{session_id{session},
                                next_seq(session),
                                {order_id::none, client_sequence{target}},
                                price,
                                quantity});
    }
    const std::vector<event>& cancel_all(std::uint16_t session) {
        return tell(cancel_orders{session_id{session}, next_seq(session), account_id{session},
                                  instrument_id::none, side_filter::both});
    }
    [[nodiscard]] client_sequence next_seq(std::uint16_t session) {
        return client_sequence{++sequences_.at(session)};
    }

    [[nodiscard]] const std::vector<event>& said() const { return said_; }
    [[nodiscard]] std::vector<std::string> lines() const {
        std::vector<std::string> made;
        for (const event& each : said_) made.push_back(describe(each));
        return made;
    }
    [[nodiscard]] std::vector<event_kind> kinds() const {
        std::vector<event_kind> made;
        for (const event& each : said_) made.push_back(each.kind);
        return made;
    }
    /// Why the last command was refused, or `none` if it was not.
    [[nodiscard]] reject_reason refusal() const {
        if (said_.size() != 1) return reject_reason::none;
        if (said_[0].kind == event_kind::admin_rejected) return said_[0].admin_rejected.reason;
        if (said_[0].kind == event_kind::order_rejected) return said_[0].order_rejected.reason;
        return reject_reason::none;
    }
    [[nodiscard]] const std::vector<event_stamp>& stamps() const { return stamps_; }
    [[nodiscard]] const top_of_book& top() const { return partition_.state().markets[1].told; }
    [[nodiscard]] exchange::partition& partition() { return partition_; }
    void wait(timestamp_ns time) { now_ += time; }

private:
    exchange::partition partition_;
    std::vector<event> said_;
    std::vector<event_stamp> stamps_;  // Of everything since the start.
    std::vector<std::uint32_t> sequences_ = std::vector<std::uint32_t>(65, 0);
    timestamp_ns now_ = 1'000'000'000;
};

}  // namespace exchange::testing
