// SPDX-License-Identifier: BSL-1.0
//
// What a partition publishes: the derived messages, and how they leave it.
//
// One command makes one event: a row of messages that belong together. They are written as plain
// records into an `event_batch`, one cache line each, and handed over some hundred at a time; an
// encoder then runs over the batch without a call per message or field. publisher.hpp says which
// messages an event consists of.
#pragma once

#include <exchange/core/commands.hpp>
#include <exchange/core/types.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace exchange {

/// The numbers are wire format.
enum class event_kind : std::uint8_t {
    order_entered = 1,
    order_amended = 2,
    order_cancelled = 3,
    order_rejected = 4,
    order_executed = 5,
    trade_capture_report = 6,
    order_terms = 7,
    stop_entered = 8,
    stop_triggered = 9,
    trigger_amended = 10,
    protection_set = 11,
    protection_struck = 12,
    execution_busted = 16,
    order_book_update = 32,
    price_level_update = 33,
    top_of_book = 34,
    trade = 35,
    volume_update = 36,
    market_statistics = 37,
    phase_changed = 38,
    trade_busted = 44,
    auction_indication = 45,
    auction_result = 46,
    admin_accepted = 64,
    admin_rejected = 65,
};

/// Who receives a message: the session that it names (and the one whose request it answers, where that is
/// another one), the public feed, or who gave an administrative command.
enum class event_audience : std::uint8_t { session = 1, public_feed = 2, administrator = 3 };

[[nodiscard]] constexpr event_audience audience_of(event_kind kind) noexcept {
    if (number(kind) >= 64) return event_audience::administrator;
    return number(kind) >= 32 ? event_audience::public_feed : event_audience::session;
}

// ---------------------------------------------------------------------------------------------
// To sessions. `client_seq` is the sequence with which the order was entered.
// ---------------------------------------------------------------------------------------------

/// The order, or what fills left of it, rests in the book.
struct order_entered {
    static constexpr event_kind kind = event_kind::order_entered;

    order_id order;
    price_ticks price;
    instrument_id instrument;
    account_id account;
    client_sequence client_seq;
    contracts open;      ///< What rests.
    contracts executed;  ///< What was filled on arrival.
    session_id session;
    order_side side;
    time_in_force tif;

    bool operator==(const order_entered&) const = default;
};

struct order_amended {
    static constexpr event_kind kind = event_kind::order_amended;

    order_id order;
    price_ticks price;
    instrument_id instrument;
    account_id account;
    client_sequence client_seq;
    client_sequence request_seq;  ///< Of the amend; none if there was no request.
    contracts open;
    contracts executed;
    session_id session;
    session_id request_session;  ///< Which sent the amend, and is told as well; none as above.
    order_side side;
    amend_priority priority;
    amend_reason reason;

    bool operator==(const order_amended&) const = default;
};

/// Whatever was open is gone, from the book or before it ever rested.
struct order_cancelled {
    static constexpr event_kind kind = event_kind::order_cancelled;

    order_id order;
    price_ticks price;
    instrument_id instrument;
    account_id account;
    client_sequence client_seq;
    client_sequence request_seq;  ///< Of the cancel; none if there was no request.
    contracts cancelled;
    contracts executed;
    session_id session;
    session_id request_session;  ///< Which sent the cancel, and is told as well; none as above.
    order_side side;
    cancel_reason reason;

    bool operator==(const order_cancelled&) const = default;
};

struct order_rejected {
    static constexpr event_kind kind = event_kind::order_rejected;

    order_id order;  ///< As the refused command named it, or none.
    instrument_id instrument;
    client_sequence client_seq;  ///< Of the refused command.
    session_id session;
    command_kind command;
    reject_reason reason;

    bool operator==(const order_rejected&) const = default;
};

struct order_executed {
    static constexpr event_kind kind = event_kind::order_executed;

    order_id order;
    trade_id trade;
    price_ticks price;
    instrument_id instrument;
    account_id account;
    client_sequence client_seq;
    contracts quantity;  ///< Of this fill.
    contracts open;      ///< After it.
    session_id session;
    order_side side;
    execution_role role;

    bool operator==(const order_executed&) const = default;
};

/// For the books of the firm behind one side of a trade.
struct trade_capture_report {
    static constexpr event_kind kind = event_kind::trade_capture_report;

    order_id order;
    trade_id trade;
    price_ticks price;
    instrument_id instrument;
    account_id account;
    firm_id firm;
    firm_id counterparty;
    contracts quantity;
    session_id session;
    order_side side;
    execution_role role;

    bool operator==(const trade_capture_report&) const = default;
};

/// What an advanced order has beside the terms of every order: the first message about it. What it does not
/// have is zero. A stop says `stop_entered` next; any other goes on like an order without these.
struct order_terms {
    static constexpr event_kind kind = event_kind::order_terms;

    order_id order;
    price_ticks trigger_price;
    client_sequence client_seq;
    instrument_id instrument;
    account_id account;
    contracts display_quantity;
    contracts minimum_quantity;
    std::uint32_t expiry_yyyymmdd;
    session_id session;
    order_side side;
    order_type type;

    bool operator==(const order_terms&) const = default;
};

/// A stop waits for its trigger.
struct stop_entered {
    static constexpr event_kind kind = event_kind::stop_entered;

    order_id order;
    price_ticks price;  ///< Its limit; of one that will be at the market, the trigger.
    client_sequence client_seq;
    instrument_id instrument;
    account_id account;
    contracts open;
    session_id session;
    order_side side;
    time_in_force tif;

    bool operator==(const stop_entered&) const = default;
};

/// A stop waits no longer: it arrives, and goes on like an order that was entered now.
struct stop_triggered {
    static constexpr event_kind kind = event_kind::stop_triggered;

    order_id order;
    price_ticks price;  ///< Its limit from now on; at the market, what bounds it.
    client_sequence client_seq;
    instrument_id instrument;
    account_id account;
    contracts open;
    session_id session;
    order_side side;

    bool operator==(const stop_triggered&) const = default;
};

/// Behind the `order_amended` of a stop whose trigger is another one now.
struct trigger_amended {
    static constexpr event_kind kind = event_kind::trigger_amended;

    order_id order;
    price_ticks trigger_price;
    client_sequence client_seq;
    client_sequence request_seq;
    instrument_id instrument;
    account_id account;
    session_id session;
    session_id request_session;
    order_side side;

    bool operator==(const trigger_amended&) const = default;
};

/// Answers `set_protection`: from now on it holds.
struct protection_set {
    static constexpr event_kind kind = event_kind::protection_set;

    client_sequence client_seq;
    timestamp_ns window_ns;
    product_id product;
    account_id account;
    contracts quantity_max;
    contracts delta_max;
    std::uint32_t trades_max;
    session_id session;

    bool operator==(const protection_set&) const = default;
};

/// More was filled than was allowed: the cancels of the quotes follow. To the session that set it.
struct protection_struck {
    static constexpr event_kind kind = event_kind::protection_struck;

    client_sequence client_seq;  ///< With which it was set.
    contracts_total quantity;    ///< This and the next two: in the window, the last fill included.
    std::int64_t delta;
    product_id product;
    account_id account;
    std::uint32_t trades;
    session_id session;

    bool operator==(const protection_struck&) const = default;
};

/// A trade of this order is undone; what was executed of the order stays so.
struct execution_busted {
    static constexpr event_kind kind = event_kind::execution_busted;

    order_id order;
    trade_id trade;
    price_ticks price;
    instrument_id instrument;
    account_id account;
    client_sequence client_seq;
    contracts quantity;
    session_id session;
    order_side side;

    bool operator==(const execution_busted&) const = default;
};

// ---------------------------------------------------------------------------------------------
// To the public feed.
// ---------------------------------------------------------------------------------------------

/// By order. One that loses its place is erased and added, and so is an iceberg that shows its next part.
struct order_book_update {
    static constexpr event_kind kind = event_kind::order_book_update;

    order_id order;
    price_ticks price;
    instrument_id instrument;
    contracts open;  ///< Of an iceberg what it shows; 0 when erased.
    order_side side;
    book_action action;

    bool operator==(const order_book_update&) const = default;
};

/// By price. No orders means that the level is gone.
struct price_level_update {
    static constexpr event_kind kind = event_kind::price_level_update;

    price_ticks price;
    contracts_total quantity;
    instrument_id instrument;
    std::uint32_t orders;
    order_side side;

    bool operator==(const price_level_update&) const = default;
};

/// The best level of each side. A side without orders has quantity, orders and price 0.
struct top_of_book {
    static constexpr event_kind kind = event_kind::top_of_book;

    price_ticks bid_price;
    contracts_total bid_quantity;
    price_ticks ask_price;
    contracts_total ask_quantity;
    instrument_id instrument;
    std::uint32_t bid_orders;
    std::uint32_t ask_orders;

    bool operator==(const top_of_book&) const = default;
};

struct trade {
    static constexpr event_kind kind = event_kind::trade;

    trade_id id;
    price_ticks price;
    instrument_id instrument;
    contracts quantity;
    order_side aggressor;  ///< Behind an `auction_result` there is none, and it says `sell`.

    bool operator==(const trade&) const = default;
};

/// After each trade, after one is undone, and when a day has ended: then both are 0.
struct volume_update {
    static constexpr event_kind kind = event_kind::volume_update;

    contracts_total volume;  ///< Of the day, the last trade included.
    instrument_id instrument;
    std::uint32_t trades;

    bool operator==(const volume_update&) const = default;
};

/// As above. Without trades the prices mean nothing.
struct market_statistics {
    static constexpr event_kind kind = event_kind::market_statistics;

    price_ticks open;
    price_ticks high;
    price_ticks low;
    price_ticks last;
    contracts_total volume;
    instrument_id instrument;
    std::uint32_t trades;

    bool operator==(const market_statistics&) const = default;
};

struct phase_changed {
    static constexpr event_kind kind = event_kind::phase_changed;

    instrument_id instrument;
    market_phase phase;

    bool operator==(const phase_changed&) const = default;
};

struct trade_busted {
    static constexpr event_kind kind = event_kind::trade_busted;

    trade_id id;
    price_ticks price;
    instrument_id instrument;
    contracts quantity;

    bool operator==(const trade_busted&) const = default;
};

/// What would trade if the auction ended now; nothing as long as the sides do not meet: then all are 0.
struct auction_indication {
    static constexpr event_kind kind = event_kind::auction_indication;

    price_ticks price;
    contracts_total volume;
    contracts_total surplus;  ///< That this price would leave over,
    instrument_id instrument;
    order_side surplus_side;  ///< of this side; `buy` if there is none.

    bool operator==(const auction_indication&) const = default;
};

/// What an auction trades; its trades follow. Where self-trade prevention keeps orders from each other,
/// they add up to less.
struct auction_result {
    static constexpr event_kind kind = event_kind::auction_result;

    price_ticks price;
    contracts_total volume;
    contracts_total surplus;
    instrument_id instrument;
    order_side surplus_side;

    bool operator==(const auction_result&) const = default;
};

// ---------------------------------------------------------------------------------------------
// To the operator.
// ---------------------------------------------------------------------------------------------

struct admin_accepted {
    static constexpr event_kind kind = event_kind::admin_accepted;

    std::uint32_t subject;  ///< The number of the product, instrument, account or session.
    command_kind command;

    bool operator==(const admin_accepted&) const = default;
};

struct admin_rejected {
    static constexpr event_kind kind = event_kind::admin_rejected;

    std::uint32_t subject;
    command_kind command;
    reject_reason reason;

    bool operator==(const admin_rejected&) const = default;
};

// ---------------------------------------------------------------------------------------------
// How they leave.
// ---------------------------------------------------------------------------------------------

/// One derived message. `kind` says which member of the union is alive.
struct alignas(64) event {
    union {
        exchange::order_entered order_entered;
        exchange::order_amended order_amended;
        exchange::order_cancelled order_cancelled;
        exchange::order_rejected order_rejected;
        exchange::order_executed order_executed;
        exchange::trade_capture_report trade_capture_report;
        exchange::order_terms order_terms;
        exchange::stop_entered stop_entered;
        exchange::stop_triggered stop_triggered;
        exchange::trigger_amended trigger_amended;
        exchange::protection_set protection_set;
        exchange::protection_struck protection_struck;
        exchange::execution_busted execution_busted;
        exchange::order_book_update order_book_update;
        exchange::price_level_update price_level_update;
        exchange::top_of_book top_of_book;
        exchange::trade trade;
        exchange::volume_update volume_update;
        exchange::market_statistics market_statistics;
        exchange::phase_changed phase_changed;
        exchange::trade_busted trade_busted;
        exchange::auction_indication auction_indication;
        exchange::auction_result auction_result;
        exchange::admin_accepted admin_accepted;
        exchange::admin_rejected admin_rejected;
    };
    event_kind kind;
};

static_assert(sizeof(event) == 64, "one message, one cache line");

/// Where a message stands: what every derived message carries beside its own fields.
struct event_stamp {
    out_sequence out_seq;
    in_sequence in_seq;   ///< Of the command that caused it.
    timestamp_ns time;    ///< Of that command.
    std::uint32_t index;  ///< Among the messages of that command, from 0.
    bool last_in_event;
};

/// Consecutive messages of one command. A long event arrives in several batches, none of them empty;
/// only the last of them is `complete`.
struct event_batch {
    std::span<const event> events;
    out_sequence first_out_seq;
    in_sequence in_seq;
    timestamp_ns time;
    std::uint32_t first_index;
    bool complete;

    [[nodiscard]] constexpr event_stamp stamp(std::size_t at) const noexcept {
        return {first_out_seq + at, in_seq, time, first_index + static_cast<std::uint32_t>(at),
                complete && at + 1 == events.size()};
    }
};

/// Takes batches; one indirect call per batch, none per message. Borrowed: `context` must outlive
/// the call of `partition::apply` that it is given to. The batch is valid during the call only.
struct event_sink {
    void* context;
    void (*take)(void* context, const event_batch& batch);

    /// A sink that calls `target(batch)`. Borrows `target`.
    template <class Target>
    [[nodiscard]] static event_sink to(Target& target) noexcept {
        const void* const address = &target;
        return {const_cast<void*>(address), [](void* context, const event_batch& batch) {
                    (*static_cast<Target*>(context))(batch);
                }};
    }
};

/// Calls `visitor(message)` with the message that is alive in `it`.
template <class Visitor>
constexpr decltype(auto) visit(const event& it, Visitor&& visitor) {
    switch (it.kind) {
        case event_kind::order_entered: return visitor(it.order_entered);
        case event_kind::order_amended: return visitor(it.order_amended);
        case event_kind::order_cancelled: return visitor(it.order_cancelled);
        case event_kind::order_rejected: return visitor(it.order_rejected);
        case event_kind::order_executed: return visitor(it.order_executed);
        case event_kind::trade_capture_report: return visitor(it.trade_capture_report);
        case event_kind::order_terms: return visitor(it.order_terms);
        case event_kind::stop_entered: return visitor(it.stop_entered);
        case event_kind::stop_triggered: return visitor(it.stop_triggered);
        case event_kind::trigger_amended: return visitor(it.trigger_amended);
        case event_kind::protection_set: return visitor(it.protection_set);
        case event_kind::protection_struck: return visitor(it.protection_struck);
        case event_kind::execution_busted: return visitor(it.execution_busted);
        case event_kind::order_book_update: return visitor(it.order_book_update);
        case event_kind::price_level_update: return visitor(it.price_level_update);
        case event_kind::top_of_book: return visitor(it.top_of_book);
        case event_kind::trade: return visitor(it.trade);
        case event_kind::volume_update: return visitor(it.volume_update);
        case event_kind::market_statistics: return visitor(it.market_statistics);
        case event_kind::phase_changed: return visitor(it.phase_changed);
        case event_kind::trade_busted: return visitor(it.trade_busted);
        case event_kind::auction_indication: return visitor(it.auction_indication);
        case event_kind::auction_result: return visitor(it.auction_result);
        case event_kind::admin_accepted: return visitor(it.admin_accepted);
        case event_kind::admin_rejected: return visitor(it.admin_rejected);
    }
    __builtin_unreachable();
}

}  // namespace exchange
