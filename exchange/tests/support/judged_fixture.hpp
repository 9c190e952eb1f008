// SPDX-License-Identifier: BSL-1.0
//
// A partition and its model on the same floor: a rule that a test writes out by hand holds for both.
//
// A storm shows that the two agree, and not that they are right. Orders are numbered in the sequence in
// which messages first name them, `1.0`, `2.0`, whatever ids either gives them; a command that goes by
// id uses the same numbers.
#pragma once

#include <exchange/core/partition.hpp>
#include <exchange/tests/support/describe.hpp>
#include <exchange/tests/support/model.hpp>
#include <exchange/tests/support/trading_fixture.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

namespace exchange::testing {

/// Product 1, future 1 in continuous trading until the end of 2030-12-20, accounts 1 to 3, each with its own
/// firm and two sessions: 1 and 2, 3 and 4, 5 and 6. It works in the smallest steps that there are.
class judged_fixture {
public:
    using lines = std::vector<std::string>;

    judged_fixture() : real_{limits()}, model_{limits()} {
        tell(any_product());
        tell(any_instrument());
        tell(set_phase{future, market_phase::continuous});
        for (std::uint16_t each = 1; each <= 3; ++each) {
            tell(any_account(each));
            tell(session_of(static_cast<std::uint16_t>(2 * each - 1), each));
            tell(session_of(static_cast<std::uint16_t>(2 * each), each));
        }
    }

    /// Both say the same; these are the messages to sessions and operator, the trades and the phases.
    template <class Command>
    lines tell(const Command& it) {
        heard_.clear();
        const auto take = [this](const event_batch& batch) {
            heard_.insert(heard_.end(), batch.events.begin(), batch.events.end());
        };
        model_.far_nodes_left(limits().far_nodes_max - real_.state().memory.levels.nodes.in_use());
        real_.apply(now_, real_ids_.aimed(it), event_sink::to(take));
        const std::vector<event> judged = model_.apply(now_, model_ids_.aimed(it));
        CHECK(text(described(heard_, real_ids_, false)) ==
              text(described(judged, model_ids_, false)));
        return described(heard_, real_ids_, true);
    }

    template <class Command>
    void both_say(const Command& it, const lines& expected) {
        CHECK(text(tell(it)) == text(expected));
    }
    /// One message, with the reason.
    template <class Command>
    void both_refuse(const Command& it, reject_reason why) {
        if constexpr (requires { it.client_seq; }) {
            order_rejected said{.order = order_id::none,
                                .instrument = instrument_id::none,
                                .client_seq = it.client_seq,
                                .session = it.session,
                                .command = Command::kind,
                                .reason = why};
            if constexpr (requires { it.target; }) said.order = it.target.id;
            else if constexpr (requires { it.instrument; }) said.instrument = it.instrument;
            both_say(it, {described(said)});
        } else {
            both_say(it, {described(admin_rejected{subject_of(it), Command::kind, why})});
        }
    }
    /// What the operator asked for is done, and leads to these messages.
    template <class Command>
    void both_accept(const Command& it, lines then = {}) {
        then.insert(then.begin(), described(admin_accepted{subject_of(it), Command::kind}));
        both_say(it, then);
    }

    [[nodiscard]] client_sequence next_seq(std::uint16_t session) {
        return client_sequence{++sequences_.at(session)};
    }
    [[nodiscard]] enter_order order(std::uint16_t session, order_side side, contracts quantity,
                                    price_ticks price,
                                    time_in_force tif = time_in_force::good_till_cancel) {
        return {session_id{session},
                next_seq(session),
                future,
                side,
                order_type::limit,
                tif,
                execution_instruction::none,
                self_trade_action::account_default,
                price,
                quantity};
    }
    /// What may rest where orders at the market wait for an auction.
    [[nodiscard]] enter_order waiting_at_market(std::uint16_t session, order_side side,
                                                contracts quantity) {
        enter_order it = order(session, side, quantity, 0);
        it.type = order_type::market;
        return it;
    }
    [[nodiscard]] enter_order at_market(std::uint16_t session, order_side side,
                                        contracts quantity) {
        enter_order it = order(session, side, quantity, 0, time_in_force::immediate_or_cancel);
        it.type = order_type::market;
        return it;
    }
    [[nodiscard]] enter_quote quote(std::uint16_t session, contracts bid, price_ticks bid_price,
                                    contracts ask, price_ticks ask_price) {
        return {session_id{session}, next_seq(session), future, self_trade_action::account_default,
                bid_price,           ask_price,         bid,    ask};
    }
    [[nodiscard]] amend_order amend(std::uint16_t session, order_reference target,
                                    contracts quantity, price_ticks price) {
        return {session_id{session}, next_seq(session), target, price, quantity};
    }
    [[nodiscard]] cancel_order cancel(std::uint16_t session, order_reference target) {
        return {session_id{session}, next_seq(session), target};
    }
    [[nodiscard]] cancel_orders cancel_all(std::uint16_t session,
                                           side_filter sides = side_filter::both) {
        return {session_id{session}, next_seq(session), account_id{(session + 1u) / 2}, future,
                sides};
    }

    /// Nanoseconds since 1970; a command takes no time by itself.
    void set_time(timestamp_ns now) { now_ = now; }
    void wait(timestamp_ns time) { now_ += time; }

private:
    class order_numbers {
    public:
        order_id number_of(order_id id) {
            if (id == order_id::none) return id;
            const auto at = std::find(ids_.begin(), ids_.end(), id);
            const auto place = static_cast<std::uint64_t>(at - ids_.begin());
            if (at == ids_.end()) ids_.push_back(id);
            return order_id{place + 1};
        }
        template <class Command>
        [[nodiscard]] Command aimed(Command it) const {
            if constexpr (requires { it.target; }) {
                const std::uint64_t place = number(it.target.id);
                if (place >= 1 && place <= ids_.size()) it.target.id = ids_[place - 1];
            }
            return it;
        }

    private:
        std::vector<order_id> ids_;
    };

    static partition_limits limits() {
        partition_limits made = small_limits();
        made.step_work_max = 1;
        return made;
    }
    static bool is_feed(event_kind it) {
        using enum event_kind;
        return it == order_book_update || it == price_level_update || it == top_of_book ||
               it == volume_update || it == market_statistics || it == trade_capture_report;
    }
    template <class Message>
    static std::string described(const Message& it) {
        event made{};
        made.kind = Message::kind;
        std::memcpy(static_cast<void*>(&made), &it, sizeof it);
        return describe(made);
    }
    static lines described(const std::vector<event>& events, order_numbers& ids, bool in_short) {
        lines made;
        for (const event& each : events) {
            if (in_short && is_feed(each.kind)) continue;
            made.push_back(visit(each, [&](auto message) {
                if constexpr (requires { message.order; }) {
                    message.order = ids.number_of(message.order);
                }
                return described(message);
            }));
        }
        return made;
    }
    static std::string text(const lines& of) {
        std::string made;
        for (const std::string& each : of) made += each + '\n';
        return made;
    }
    template <class Command>
    static std::uint32_t subject_of(const Command& it) {
        if constexpr (std::is_same_v<Command, define_product>) return number(it.product);
        else if constexpr (std::is_same_v<Command, retire>) return it.number;
        else if constexpr (std::is_same_v<Command, expire_instruments> ||
                           std::is_same_v<Command, advance_phases>)
            return 0;
        else if constexpr (requires { it.session; }) return number(it.session);
        else if constexpr (requires { it.account; }) return number(it.account);
        else return number(it.instrument);
    }

    partition real_;
    model model_;
    order_numbers real_ids_;
    order_numbers model_ids_;
    std::vector<event> heard_;
    std::vector<std::uint64_t> sequences_ = std::vector<std::uint64_t>(16, 0);
    timestamp_ns now_ = 1'000'000'000;
};

/// A change of the future's terms.
[[nodiscard]] inline define_instrument changed_future() {
    define_instrument it = any_instrument();
    it.action = definition_action::change;
    return it;
}

/// What stands under this sequence of the session that asks.
[[nodiscard]] inline order_reference entered_as(std::uint64_t client_seq) {
    return {order_id::none, client_sequence{client_seq}};
}

/// The order that messages named as the n-th.
[[nodiscard]] inline order_reference known_as(std::uint64_t order) {
    return {order_id{order}, client_sequence::none};
}

}  // namespace exchange::testing
