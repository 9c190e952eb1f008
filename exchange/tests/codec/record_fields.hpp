// SPDX-License-Identifier: BSL-1.0
//
// The members of a plain record, without their names: to fill, compare and count them.
//
// With it, a member that is added to a command or an event and forgotten in the schema fails a
// test, though no test knows the member.
#pragma once

#include <codec/dice.hpp>

#include <exchange/codec/event_codec.hpp>

#include <cstddef>
#include <tuple>
#include <type_traits>

namespace exchange::testing {

/// Converts to any member.
struct anything {
    template <class Type>
    operator Type() const;
};

template <class Record, class... Members>
consteval std::size_t members_of() {
    if constexpr (requires { Record{Members{}..., anything{}}; })
        return members_of<Record, Members..., anything>();
    else return sizeof...(Members);
}

/// References to all members of a record with up to fourteen of them.
template <class Record>
constexpr auto tied(Record& it) {
    constexpr std::size_t count = members_of<std::remove_const_t<Record>>();
    static_assert(count <= 14, "one more case is needed here");
    if constexpr (count == 0) {
        return std::tie();
    } else if constexpr (count == 1) {
        auto& [a] = it;
        return std::tie(a);
    } else if constexpr (count == 2) {
        auto& [a, b] = it;
        return std::tie(a, b);
    } else if constexpr (count == 3) {
        auto& [a, b, c] = it;
        return std::tie(a, b, c);
    } else if constexpr (count == 4) {
        auto& [a, b, c, d] = it;
        return std::tie(a, b, c, d);
    } else if constexpr (count == 5) {
        auto& [a, b, c, d, e] = it;
        return std::tie(a, b, c, d, e);
    } else if constexpr (count == 6) {
        auto& [a, b, c, d, e, f] = it;
        return std::tie(a, b, c, d, e, f);
    } else if constexpr (count == 7) {
        auto& [a, b, c, d, e, f, g] = it;
        return std::tie(a, b, c, d, e, f, g);
    } else if constexpr (count == 8) {
        auto& [a, b, c, d, e, f, g, h] = it;
        return std::tie(a, b, c, d, e, f, g, h);
    } else if constexpr (count == 9) {
        auto& [a, b, c, d, e, f, g, h, i] = it;
        return std::tie(a, b, c, d, e, f, g, h, i);
    } else if constexpr (count == 10) {
        auto& [a, b, c, d, e, f, g, h, i, j] = it;
        return std::tie(a, b, c, d, e, f, g, h, i, j);
    } else if constexpr (count == 11) {
        auto& [a, b, c, d, e, f, g, h, i, j, k] = it;
        return std::tie(a, b, c, d, e, f, g, h, i, j, k);
    } else if constexpr (count == 12) {
        auto& [a, b, c, d, e, f, g, h, i, j, k, l] = it;
        return std::tie(a, b, c, d, e, f, g, h, i, j, k, l);
    } else if constexpr (count == 13) {
        auto& [a, b, c, d, e, f, g, h, i, j, k, l, m] = it;
        return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m);
    } else {
        auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n] = it;
        return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n);
    }
}

template <class Member>
bool same(const Member& left, const Member& right) {
    if constexpr (std::is_class_v<Member>) return tied(left) == tied(right);
    else return left == right;
}

/// Member by member; padding does not count. Of a product's bands, those that count.
template <class Record>
bool same_record(const Record& left, const Record& right) {
    return std::apply(
        [&right](const auto&... lefts) {
            return std::apply([&](const auto&... rights) { return (same(lefts, rights) && ...); },
                              tied(right));
        },
        tied(left));
}

inline bool same_record(const define_product& left, const define_product& right) {
    bool same = left.product == right.product && left.multiplier == right.multiplier &&
                left.lot == right.lot && left.bands == right.bands && left.action == right.action;
    for (std::uint32_t at = 0; same && at < left.bands; ++at)
        same = left.ticks[at].from == right.ticks[at].from &&
               left.ticks[at].step == right.ticks[at].step;
    return same;
}

// Which numbers are enumerators: what the schema says.
inline bool is_one(order_side it) { return order_entry::is_order_side(number(it)); }
inline bool is_one(order_type it) { return order_entry::is_order_type(number(it)); }
inline bool is_one(time_in_force it) { return order_entry::is_time_in_force(number(it)); }
inline bool is_one(execution_instruction it) {
    return order_entry::is_execution_instruction(number(it));
}
inline bool is_one(self_trade_action it) { return order_entry::is_self_trade_action(number(it)); }
inline bool is_one(side_filter it) { return order_entry::is_side_filter(number(it)); }
inline bool is_one(instrument_kind it) { return administration::is_instrument_kind(number(it)); }
inline bool is_one(lone_order_policy it) {
    return administration::is_lone_order_policy(number(it));
}
inline bool is_one(disconnect_policy it) {
    return administration::is_disconnect_policy(number(it));
}
inline bool is_one(market_phase it) { return administration::is_market_phase(number(it)); }
inline bool is_one(account_state it) { return administration::is_account_state(number(it)); }
inline bool is_one(definition_action it) {
    return administration::is_definition_action(number(it));
}
inline bool is_one(definition_kind it) { return administration::is_definition_kind(number(it)); }
inline bool is_one(execution_role it) { return order_entry::is_execution_role(number(it)); }
inline bool is_one(book_action it) { return market_data::is_book_action(number(it)); }
inline bool is_one(amend_priority it) { return order_entry::is_amend_priority(number(it)); }
inline bool is_one(amend_reason it) { return order_entry::is_amend_reason(number(it)); }
inline bool is_one(cancel_reason it) { return order_entry::is_cancel_reason(number(it)); }
inline bool is_one(reject_reason it) { return order_entry::is_reject_reason(number(it)); }
inline bool is_one(command_kind it) { return order_entry::is_command_kind(number(it)); }
inline bool is_one(decode_error it) { return order_entry::is_decode_error(number(it)); }

/// Any value that the schema allows, the extreme ones often.
template <class Member>
void randomize(dice& random, Member& it) {
    if constexpr (std::is_class_v<Member>) {
        std::apply([&random](auto&... each) { (randomize(random, each), ...); }, tied(it));
    } else if constexpr (std::is_same_v<Member, bool>) {
        it = random.chance(2);
    } else if constexpr (std::is_same_v<Member, std::int64_t>) {
        const price_ticks extreme[] = {-price_ticks_max, -1, 0, 1, price_ticks_max};
        it = random.chance(4)
                 ? extreme[random.below(5)]
                 : static_cast<price_ticks>(random.below(2 * price_ticks_max)) - price_ticks_max;
    } else if constexpr (requires { is_one(it); }) {
        do it = static_cast<Member>(random.below(256));
        while (!is_one(it));
    } else {
        // Ids are not zero, which is none, and no number is the largest, which is SBE's null.
        using raw = typename sbe::encoded_as<Member>::type;
        do it = static_cast<Member>(random.any() >> random.below(64));
        while (static_cast<raw>(it) == 0 || static_cast<raw>(it) == static_cast<raw>(~raw{0}));
    }
}

inline void randomize(dice& random, define_product& it) {
    randomize(random, it.product);
    randomize(random, it.multiplier);
    randomize(random, it.lot);
    randomize(random, it.action);
    it.bands = static_cast<std::uint32_t>(random.below(tick_bands_max + 1));
    for (std::uint32_t at = 0; at < it.bands; ++at) randomize(random, it.ticks[at]);
}

template <class Record>
[[nodiscard]] Record random_record(dice& random) {
    Record it{};
    if constexpr (std::is_same_v<Record, define_product>) randomize(random, it);
    else std::apply([&random](auto&... each) { (randomize(random, each), ...); }, tied(it));
    return it;
}

/// Calls `body.template operator()<Record>()` for each of `Records`.
template <class... Records, class Body>
void for_each_type(Body&& body) {
    (body.template operator()<Records>(), ...);
}

template <class Body>
void for_each_client_command(Body&& body) {
    for_each_type<enter_order, amend_order, cancel_order, cancel_orders, enter_quote,
                  enter_advanced_order, amend_stop, set_protection>(body);
}

template <class Body>
void for_each_operator_command(Body&& body) {
    for_each_type<define_product, define_instrument, define_account, define_session, set_phase,
                  set_account_state, set_settlement_price, end_session, end_day, retire,
                  expire_instruments, set_position, uncross, set_interruption, advance_phases,
                  bust_trade, schedule_phase>(body);
}

template <class Body>
void for_each_event(Body&& body) {
    for_each_type<order_entered, order_amended, order_cancelled, order_rejected, order_executed,
                  trade_capture_report, order_terms, stop_entered, stop_triggered, trigger_amended,
                  protection_set, protection_struck, execution_busted, order_book_update,
                  price_level_update, top_of_book, trade, volume_update, market_statistics,
                  phase_changed, trade_busted, auction_indication, auction_result, admin_accepted,
                  admin_rejected>(body);
}

}  // namespace exchange::testing
