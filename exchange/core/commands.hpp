// SPDX-License-Identifier: BSL-1.0
//
// Everything that can be asked of a partition: by clients, by the operator, by a timer.
//
// A partition's state is a function of the commands it was given and of nothing else, so whatever
// must change it has to be one of these. What comes out is in events.hpp.
#pragma once

#include <exchange/core/types.hpp>

#include <cstdint>
#include <variant>

namespace exchange {

/// The numbers are wire and journal format.
enum class command_kind : std::uint8_t {
    enter_order = 1,
    amend_order = 2,
    cancel_order = 3,
    cancel_orders = 4,
    enter_quote = 5,
    enter_advanced_order = 6,
    amend_stop = 7,
    set_protection = 8,
    define_product = 32,
    define_instrument = 33,
    define_account = 34,
    define_session = 35,
    set_phase = 36,
    set_account_state = 37,
    set_settlement_price = 38,
    end_session = 39,
    end_day = 40,
    retire = 41,
    expire_instruments = 42,
    set_position = 43,
    uncross = 44,
    set_interruption = 45,
    advance_phases = 46,
    bust_trade = 47,
    schedule_phase = 48,
};

// ---------------------------------------------------------------------------------------------
// By clients. The session comes from the connection and not from the message; each message of a
// session, whatever its kind, carries a higher `client_seq` than all before it (the first: than none), by
// `client_sequence_jump_max` at most. Any other number is refused and forgotten; one that obeys is used
// up, even if the command is refused for another reason. Each command is answered by at least one
// message to the session that sent it, also where it concerns orders of a sister session.
// ---------------------------------------------------------------------------------------------

struct enter_order {
    static constexpr command_kind kind = command_kind::enter_order;

    session_id session;
    client_sequence client_seq;
    instrument_id instrument;
    order_side side;
    order_type type;  ///< A market order is an IOC (or FOK), whatever its `tif`.
    time_in_force tif;
    execution_instruction instruction;
    self_trade_action self_trade;
    price_ticks price;  ///< Ignored for a market order, whose limit is collar or band.
    contracts quantity;
};

/// Whom an amend or a cancel means.
struct order_reference {
    order_id id;                 ///< Or none, and then
    client_sequence client_seq;  ///< the sequence with which this session entered it.
};

/// At an unchanged price a quantity that is not larger keeps the place, anything else loses it and is asked
/// what a new order is asked; no more than what was executed already cancels what is left. A side of a quote
/// is not amended.
struct amend_order {
    static constexpr command_kind kind = command_kind::amend_order;

    session_id session;
    client_sequence client_seq;
    order_reference target;
    price_ticks price;   ///< The new price, or the old one.
    contracts quantity;  ///< Of the whole order, what was executed included.
};

/// By client sequence it needs no acknowledgement of the order. A quote loses both of its sides, however
/// it was named.
struct cancel_order {
    static constexpr command_kind kind = command_kind::cancel_order;

    session_id session;
    client_sequence client_seq;
    order_reference target;
};

enum class side_filter : std::uint8_t { both = 0, buy = 1, sell = 2 };

/// Cancels all orders of an account, of every session and in every market, or those that match. Each says
/// so itself: there is no answer beside that. With nothing to cancel it is refused.
struct cancel_orders {
    static constexpr command_kind kind = command_kind::cancel_orders;

    session_id session;
    client_sequence client_seq;
    account_id account;        ///< The session's own.
    instrument_id instrument;  ///< None means all.
    side_filter sides;
};

/// Replaces the account's quote in this market. A quantity of zero quotes nothing on that side; without
/// any quantity it is a cancel, which is possible in any phase, and is refused if there is no quote.
struct enter_quote {
    static constexpr command_kind kind = command_kind::enter_quote;

    session_id session;
    client_sequence client_seq;
    instrument_id instrument;
    self_trade_action self_trade;
    price_ticks bid_price;
    price_ticks ask_price;
    contracts bid_quantity;
    contracts ask_quantity;
};

/// An order with more to say than `enter_order` has room for. What it does not want is zero.
///
/// A stop (`stop`, `stop_limit`) waits, in no book that anyone sees, until a trade is printed at its trigger
/// or beyond: to buy at or above it, to sell at or below. It is Day, GTC or GTD. An iceberg shows
/// `display_quantity` of itself at a time. `minimum_quantity` is filled at once when it arrives, or the
/// order is cancelled without any fill.
struct enter_advanced_order {
    static constexpr command_kind kind = command_kind::enter_advanced_order;

    session_id session;
    client_sequence client_seq;
    instrument_id instrument;
    order_side side;
    order_type type;
    time_in_force tif;  ///< At the market as in `enter_order`; of a stop until it is triggered.
    execution_instruction instruction;
    self_trade_action self_trade;
    price_ticks price;              ///< Ignored at the market, once triggered or at once.
    price_ticks trigger_price;      ///< Of a stop; ignored otherwise.
    contracts quantity;             ///< All of it, what is hidden included.
    contracts display_quantity;     ///< Of a limit order that may rest, and below `quantity`.
    contracts minimum_quantity;     ///< At most `quantity`.
    std::uint32_t expiry_yyyymmdd;  ///< Of a GTD order its last day, to its end in UTC.
};

/// `amend_order` for a stop that waits, its trigger included. Another trigger loses the place among stops
/// of the new one; in all else, the rules of `amend_order` hold.
struct amend_stop {
    static constexpr command_kind kind = command_kind::amend_stop;

    session_id session;
    client_sequence client_seq;
    order_reference target;
    price_ticks trigger_price;  ///< The new trigger, or the old one.
    price_ticks price;          ///< As in `amend_order`; ignored if it will be at the market.
    contracts quantity;
};

/// Protects the account's quotes in a product from now on: when more than this is filled of those that rest,
/// within a window, they are cancelled, and further ones refused until it is set again. Nothing of what was
/// counted before counts. Without a window, and without bounds, there is no protection.
struct set_protection {
    static constexpr command_kind kind = command_kind::set_protection;

    session_id session;
    client_sequence client_seq;
    product_id product;
    timestamp_ns window_ns;  ///< From the first fill that lies in no window.
    contracts
        quantity_max;  ///< 0 means any; so do the next two, but one is above 0 if there is a window.
    contracts delta_max;  ///< Of what was bought less what was sold, either way.
    std::uint32_t trades_max;
};

// ---------------------------------------------------------------------------------------------
// By the operator, and by timers.
// ---------------------------------------------------------------------------------------------

/// From `from` upward, prices are multiples of `step`; below the first band, of the first step.
struct tick_band {
    price_ticks from;
    price_ticks step;
};

inline constexpr std::uint32_t tick_bands_max = 4;

/// Whether a definition makes something, or replaces the terms of what is there. What is retired is
/// neither: its number is not used again.
enum class definition_action : std::uint8_t { create = 0, change = 1 };

/// A change holds at once for all instruments of the product, and for orders that rest when they are amended.
struct define_product {
    static constexpr command_kind kind = command_kind::define_product;

    product_id product;
    std::uint32_t multiplier;  ///< Value of one contract per tick. Does not change.
    contracts lot;             ///< Quantities are multiples of it.
    std::uint32_t bands;       ///< How many of `ticks` count; 0 means every tick is a price.
    tick_band ticks[tick_bands_max];
    definition_action action = definition_action::create;
};

enum class lone_order_policy : std::uint8_t {
    cancel = 0,  ///< An IOC or FOK without a counterparty is accepted, and cancelled.
    reject = 1,  ///< It is refused with `no_counterparty` before any book is looked at.
};

/// Product, type and strike do not change. Orders that rest stay, whatever changes.
struct define_instrument {
    static constexpr command_kind kind = command_kind::define_instrument;

    instrument_id instrument;
    product_id product;
    instrument_kind type;
    lone_order_policy lone_orders;
    std::uint32_t
        expiry_yyyymmdd;  ///< The last day of trading, to its end in UTC; 0: it never expires.
    price_ticks strike;   ///< Of an option.
    price_ticks settlement_price;
    price_ticks collar;            ///< Limit prices lie within settlement +- this; 0 means none.
    contracts order_quantity_max;  ///< 0 means no limit.
    std::int64_t order_value_max;  ///< Of price x quantity x multiplier; 0 means no limit.
    price_ticks market_band = 0;   ///< Market orders trade within best price +- this; 0 means none.
    definition_action action = definition_action::create;
};

/// The firm does not change.
struct define_account {
    static constexpr command_kind kind = command_kind::define_account;

    account_id account;
    firm_id firm;
    self_trade_group group;
    self_trade_action self_trade;  ///< Of orders that leave it to the account.
    contracts order_quantity_max;  ///< This and the next three: 0 means no limit.
    std::uint32_t open_orders_max;
    std::uint32_t messages_per_second_max;  ///< Of entries, amends and quotes.
    std::int64_t position_max;              ///< Either way, as if all open orders were filled.
    std::uint32_t message_burst_max = 0;    ///< At once, after a rest; 0 means those of a second.
    std::uint32_t cancels_per_second_max = 0;  ///< Of cancels of any kind; 0 means no limit.
    std::uint32_t cancel_burst_max = 0;        ///< As `message_burst_max`.
    definition_action action = definition_action::create;
};

enum class disconnect_policy : std::uint8_t { keep_orders = 0, cancel_orders = 1 };

/// The account does not change.
struct define_session {
    static constexpr command_kind kind = command_kind::define_session;

    session_id session;
    account_id account;
    disconnect_policy on_disconnect;
    definition_action action = definition_action::create;
};

struct set_phase {
    static constexpr command_kind kind = command_kind::set_phase;

    instrument_id instrument;
    market_phase phase;
};

/// Blocking an account cancels all of its orders first: the kill switch.
struct set_account_state {
    static constexpr command_kind kind = command_kind::set_account_state;

    account_id account;
    account_state state;
};

/// Moves the collar; orders beyond the new one stay.
struct set_settlement_price {
    static constexpr command_kind kind = command_kind::set_settlement_price;

    instrument_id instrument;
    price_ticks settlement_price;
};

/// The session's connection is gone for good. Its orders follow its `disconnect_policy`.
struct end_session {
    static constexpr command_kind kind = command_kind::end_session;

    session_id session;
};

/// Cancels the Day orders of a market; then its sums begin again, and the public feed says so.
struct end_day {
    static constexpr command_kind kind = command_kind::end_day;

    instrument_id instrument;
};

/// Takes something out of use for good: an instrument ends, an account may enter nothing any more, a session
/// is unknown from then on, and their orders are cancelled; of a product, nothing new is defined. Numbers are
/// not given again, and positions stay as they are.
struct retire {
    static constexpr command_kind kind = command_kind::retire;

    definition_kind what;
    std::uint32_t number;
};

/// Ends each instrument whose last day is over, and cancels its orders; then those GTD orders whose last
/// day is over. A timer's command; what is over takes no orders even before it comes.
struct expire_instruments {
    static constexpr command_kind kind = command_kind::expire_instruments;
};

inline constexpr std::int64_t position_limit = std::int64_t{1} << 48;

/// What an account brings along from before, in a market that is closed.
struct set_position {
    static constexpr command_kind kind = command_kind::set_position;

    account_id account;
    instrument_id instrument;
    std::int64_t position;  ///< Bought less sold; within `position_limit`, either way.
};

/// Ends the auction of a market: what it can trade it trades at one price, what is left of orders at
/// the market goes, and the market is in continuous trading, or behind a closing auction closed and its
/// day ended.
struct uncross {
    static constexpr command_kind kind = command_kind::uncross;

    instrument_id instrument;
};

/// An order that would trade farther than `collar` from the reference price interrupts the market: for
/// as long as `duration_ns`, or until it is ended by hand if that is 0, it is in an auction.
struct set_interruption {
    static constexpr command_kind kind = command_kind::set_interruption;

    instrument_id instrument;
    price_ticks collar;  ///< 0 means that nothing interrupts.
    timestamp_ns duration_ns;
};

inline constexpr std::uint32_t seconds_of_day = 86'400;

/// Every day at this second a market enters a phase as if it were set, a closing auction as if it were
/// uncrossed before the market closes. A market that is halted is only closed. Of two phases at one
/// second, that with the lower number counts.
struct schedule_phase {
    static constexpr command_kind kind = command_kind::schedule_phase;

    instrument_id instrument;
    market_phase phase;
    std::uint32_t second_of_day;  ///< In UTC; `seconds_of_day` takes the phase out of the schedule.
};

/// Does what is due by the time: ends each volatility auction whose time is over, and brings each
/// market into the phase that its schedule says. A timer's command.
struct advance_phases {
    static constexpr command_kind kind = command_kind::advance_phases;
};

/// Undoes a trade of this day: positions and sums are as if it had not been, orders stay as it left
/// them, and the prices of the day as they were printed.
struct bust_trade {
    static constexpr command_kind kind = command_kind::bust_trade;

    instrument_id instrument;
    trade_id trade;
};

/// Any of them, as a journal or a test holds it.
using command = std::variant<enter_order, amend_order, cancel_order, cancel_orders, enter_quote,
                             enter_advanced_order, amend_stop, set_protection, define_product,
                             define_instrument, define_account, define_session, set_phase,
                             set_account_state, set_settlement_price, end_session, end_day, retire,
                             expire_instruments, set_position, uncross, set_interruption,
                             advance_phases, bust_trade, schedule_phase>;

}  // namespace exchange
