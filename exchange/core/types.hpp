// SPDX-License-Identifier: BSL-1.0
//
// The basic types: identifiers, quantities, prices, states, and reasons for refusal.
//
// Commands and events are made of these and of nothing else, so the codec can lay them out byte by
// byte. Every enumerator has a number of its own that never changes: journals and wires hold it.
#pragma once

#include <cstdint>
#include <type_traits>

namespace exchange {

/// A price in ticks of its instrument. Spreads trade below zero, so it is signed.
using price_ticks = std::int64_t;

/// No valid price lies beyond, either way; seven steps of six bits find any chunk of 64 of them.
inline constexpr price_ticks price_ticks_max = (price_ticks{1} << 47) - 1;

/// How many contracts an order wants, has left, or was filled with.
using contracts = std::uint32_t;

/// A sum of `contracts`: of a price level, of a day.
using contracts_total = std::uint64_t;

/// Nanoseconds since an epoch that the sequencer chose; the core only compares them.
using timestamp_ns = std::uint64_t;

/// Dense numbers, chosen by the operator, from 1 up to a limit of the partition. 0 means none.
enum class product_id : std::uint32_t { none = 0 };
enum class instrument_id : std::uint32_t { none = 0 };
enum class firm_id : std::uint32_t { none = 0 };
enum class account_id : std::uint32_t { none = 0 };
enum class session_id : std::uint16_t { none = 0 };

/// Accounts that share a group do not trade with each other. 0 means: the account is alone in its own.
enum class self_trade_group : std::uint32_t { none = 0 };

/// The client's own number of a message; it grows from message to message of a session, and at a
/// million messages a second lasts for half a million years.
enum class client_sequence : std::uint64_t { none = 0 };

/// By how much at most it grows at once. A message that says more is refused and does not count, or one
/// wrong number would be the last that the session could ever use.
inline constexpr std::uint64_t client_sequence_jump_max = std::uint64_t{1} << 24;

/// Given by the core: a place in the slab and a generation, so that an id is never seen twice.
enum class order_id : std::uint64_t { none = 0 };

enum class trade_id : std::uint64_t { none = 0 };

/// How much of a number belongs to its partition, which stands in the upper bits of all that it numbers.
inline constexpr unsigned partition_shift = 60;
inline constexpr std::uint32_t partitions_limit = 1u << (64 - partition_shift);

/// What the numbers of a partition begin above.
[[nodiscard]] constexpr std::uint64_t numbers_of(std::uint32_t partition) noexcept {
    return std::uint64_t{partition} << partition_shift;
}
[[nodiscard]] constexpr std::uint32_t partition_of(std::uint64_t it) noexcept {
    return static_cast<std::uint32_t>(it >> partition_shift);
}

/// The position of a command among all commands of a partition, from `numbers_of` it + 1.
using in_sequence = std::uint64_t;

/// The position of a derived message among all of a partition, from `numbers_of` it + 1.
using out_sequence = std::uint64_t;

/// The number behind an id or an enumerator.
template <class Enum>
    requires std::is_enum_v<Enum>
[[nodiscard]] constexpr std::underlying_type_t<Enum> number(Enum it) noexcept {
    return static_cast<std::underlying_type_t<Enum>>(it);
}

enum class order_side : std::uint8_t { buy = 0, sell = 1 };

[[nodiscard]] constexpr order_side opposite(order_side it) noexcept {
    return it == order_side::buy ? order_side::sell : order_side::buy;
}

enum class order_type : std::uint8_t {
    limit = 1,
    market = 2,
    stop = 3,        ///< Waits until the market trades at its trigger, and is a market order then.
    stop_limit = 4,  ///< The same, and is a limit order then.
};

[[nodiscard]] constexpr bool is_stop(order_type it) noexcept { return it >= order_type::stop; }

/// Has it no limit of its own, at once or when it is triggered?
[[nodiscard]] constexpr bool is_at_market(order_type it) noexcept {
    return it == order_type::market || it == order_type::stop;
}

enum class time_in_force : std::uint8_t {
    day = 1,                  ///< Until the trading day ends.
    good_till_cancel = 2,     ///< Until it is cancelled.
    immediate_or_cancel = 3,  ///< What cannot be filled at once is cancelled.
    fill_or_kill = 4,         ///< All at once or nothing.
    good_till_date = 5,       ///< Until a day is over, or it is cancelled before.
};

/// Does such an order never rest?
[[nodiscard]] constexpr bool goes_at_once(time_in_force it) noexcept {
    return it == time_in_force::immediate_or_cancel || it == time_in_force::fill_or_kill;
}

enum class execution_instruction : std::uint8_t {
    none = 0,
    post_only = 1,  ///< Refused if it would trade on arrival.
};

/// What happens when an order meets one of its own account, or of its self-trade group.
enum class self_trade_action : std::uint8_t {
    account_default = 0,
    cancel_resting = 1,
    cancel_aggressor = 2,
    cancel_both = 3,
    decrement = 4,  ///< Both lose what they would have traded; no trade is printed.
    allow = 5,      ///< They trade: an account of many clients may say so.
};

enum class instrument_kind : std::uint8_t { future = 1, call = 2, put = 3 };

enum class market_phase : std::uint8_t {
    closed = 1,
    continuous = 2,
    halted = 3,           ///< Orders stay and may be cancelled; nothing is entered, nothing trades.
    ended = 4,            ///< Expired or retired, without orders, for good. No command sets it.
    pre_open = 5,         ///< In this and the next three, orders are collected and none trades.
    opening_auction = 6,  ///< Ends in continuous trading,
    closing_auction = 7,  ///< and this with the day.
    volatility_auction = 8,  ///< Of an interruption, for a while. No command sets it.
};

enum class account_state : std::uint8_t {
    active = 1,
    blocked = 2,  ///< The kill switch: everything was cancelled, nothing may be entered.
    retired = 3,  ///< The same, for good. No `set_account_state` sets it.
};

/// What a definition or a retirement is about.
enum class definition_kind : std::uint8_t { product = 1, instrument = 2, account = 3, session = 4 };

enum class execution_role : std::uint8_t {
    maker = 1,
    taker = 2,
    auction = 3,  ///< Of an uncross: both orders rested.
};

enum class book_action : std::uint8_t { add = 1, modify = 2, erase = 3 };

/// Does an amended order stand where it stood, or last at its price?
enum class amend_priority : std::uint8_t { kept = 1, lost = 2 };

enum class reject_reason : std::uint8_t {
    none = 0,                       ///< Not refused; never in a message.
    unknown_session = 1,            ///< Or a retired one.
    account_blocked = 2,            ///< Or retired.
    duplicate_client_sequence = 3,  ///< Not above every earlier one of the session.
    message_rate = 4,               ///< Of entries or of cancels: each has its own.
    unknown_instrument = 5,
    market_closed = 6,  ///< Or expired, or retired.
    market_halted = 7,
    invalid_field = 8,  ///< An enumeration holds a number that is none of its own.
    invalid_combination = 9,
    invalid_price = 10,  ///< Beyond `price_ticks_max`.
    price_off_tick = 11,
    price_outside_collar = 12,
    invalid_quantity = 13,  ///< Zero, or no multiple of the lot.
    quantity_over_max = 14,
    value_over_max = 15,  ///< Also if price x quantity x multiplier does not fit 63 bits.
    open_orders_over_max = 16,
    position_over_max = 17,
    would_trade = 18,  ///< Post-only, and the other side is within reach.
    no_counterparty = 19,
    unknown_order = 20,  ///< Never existed, is over, or belongs to another session.
    not_permitted = 21,
    at_capacity = 22,  ///< A table of the partition is full.
    unknown_product = 23,
    unknown_account = 24,
    invalid_definition = 25,
    already_defined = 26,
    client_sequence_too_far = 27,  ///< More than `client_sequence_jump_max` above the last one.
    part_of_quote = 28,            ///< A quote is changed by the next quote, not side by side.
    no_price_protection = 29,  ///< A market order where neither collar nor band bounds its price.
    nothing_to_cancel = 30,    ///< A mass cancel, or a quote without quantities, found nothing.
    out_of_use = 31,           ///< Retired, or expired: it does not come back.
    not_changeable = 32,       ///< What makes the thing what it is: retire it and define another.
    invalid_expiry = 40,       ///< No date, or one that is over.
    trigger_passed = 41,  ///< A stop whose trigger the last trade of the day has reached already.
    not_waiting = 42,     ///< A trigger is amended, of an order that waits for none.
    protection_struck = 43,  ///< A quote, after too much of the account's quotes was filled.
    not_in_auction =
        48,           ///< What has to trade at once, or must not, where nothing trades on arrival.
    no_auction = 49,  ///< There is none to end.
    unknown_trade = 50,  ///< Never was, is of a day that is over, or is not kept any more.
    already_busted = 51,
};

enum class cancel_reason : std::uint8_t {
    requested = 1,
    mass_cancel = 2,
    immediate_or_cancel = 3,
    fill_or_kill = 4,
    self_trade = 5,
    quote_replaced = 6,
    amended_below_executed = 7,
    kill_switch = 8,
    session_ended = 9,
    day_ended = 10,
    expired = 11,
    retired = 12,           ///< Its market, account or session was.
    minimum_quantity = 20,  ///< Less than that could be filled on arrival.
    no_price_protection =
        21,            ///< A triggered stop at the market that neither collar nor band bounds.
    at_capacity = 22,  ///< A triggered stop whose price there is no room for.
    protection = 23,   ///< Too much of the account's quotes was filled.
};

enum class amend_reason : std::uint8_t { requested = 1, self_trade = 2 };

}  // namespace exchange
