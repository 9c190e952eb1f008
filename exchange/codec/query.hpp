// SPDX-License-Identifier: BSL-1.0
//
// Questions about what the exchange holds, and their answers: orders, positions, accounts, sessions,
// instruments, products, and what accounts did in a day.
//
// As a book's page (book_page.hpp), they are outside of every sequence and change nothing. An operator may
// ask anything; a session asks about its own account, and about instruments and products.
//
// A page is the state between two commands. (Between two steps of one, an order that is being amended would
// be told as it is by then, and one that arrives not yet.) A list that is longer than a page, or takes more
// looks than a page may cost, is read page by page, each from where the last one says that it goes on; a
// page may be short, even empty, and not the last. Several pages are not one state: what was there from the
// first question to the last answer is told exactly once, as it was in its page; what came, went or was
// changed meanwhile may be told or not. No page refers to anything that may go, so a walk never begins anew.
#pragma once

#include <exchange/core/commands.hpp>
#include <exchange/core/types.hpp>

#include <array>
#include <cstdint>

namespace exchange {

enum class query_subject : std::uint8_t {
    orders = 1,     ///< That rest, and stops that wait.
    positions = 2,  ///< What an account holds or has open in a market, where it is anything.
    accounts = 3,
    sessions = 4,
    instruments = 5,
    products = 6,
    report = 7,  ///< What an account did in a market in its day, and held before and after it.
};

/// Where a list goes on. Only 0, the beginning, has a meaning of its own.
using query_place = std::uint64_t;

/// Asks for a page.
struct query {
    query_place from;          ///< 0, or `next` of the page before.
    account_id account;        ///< Whose; none means all, of a session its own account.
    instrument_id instrument;  ///< In which market, or which one; none means all.
    query_subject subject;

    bool operator==(const query&) const = default;
};

/// There is no page, and the reason.
struct query_refused {
    query_place from;  ///< This and the next three: as asked.
    account_id account;
    instrument_id instrument;
    query_subject subject;
    reject_reason reason;

    bool operator==(const query_refused&) const = default;
};

struct order_row {
    order_id order;
    client_sequence client_seq;  ///< With which it was entered.
    price_ticks price;
    instrument_id instrument;
    account_id account;
    contracts open;
    contracts executed;
    session_id session;  ///< That entered it.
    order_side side;
    time_in_force tif;
    execution_instruction instruction;
    self_trade_action self_trade;
    bool quote;       ///< Is it a side of the account's quote?
    order_type type;  ///< `stop` or `stop_limit` while it waits for its trigger, then `limit`.
    price_ticks trigger_price;      ///< While it waits; otherwise 0.
    std::uint32_t expiry_yyyymmdd;  ///< Of a GTD order; otherwise 0.

    bool operator==(const order_row&) const = default;
};

struct position_row {
    std::int64_t position;  ///< Bought less sold.
    contracts_total open_buy;
    contracts_total open_sell;
    account_id account;
    instrument_id instrument;
    bool quote;  ///< Does a quote of it stand?

    bool operator==(const position_row&) const = default;
};

struct account_row {
    std::int64_t position_max;  ///< This and the other limits: as it was defined.
    account_id account;
    firm_id firm;
    self_trade_group group;
    contracts order_quantity_max;
    std::uint32_t open_orders_max;
    std::uint32_t messages_per_second_max;
    std::uint32_t message_burst_max;
    std::uint32_t cancels_per_second_max;
    std::uint32_t cancel_burst_max;
    std::uint32_t open_orders;  ///< How many rest now.
    self_trade_action self_trade;
    account_state state;

    bool operator==(const account_row&) const = default;
};

struct session_row {
    client_sequence last_client_seq;  ///< The last one that counted.
    account_id account;
    session_id session;
    disconnect_policy on_disconnect;
    bool retired;
    bool logged_in;

    bool operator==(const session_row&) const = default;
};

struct instrument_row {
    price_ticks strike;
    price_ticks settlement_price;
    price_ticks collar;
    price_ticks market_band;
    std::int64_t order_value_max;
    price_ticks
        open;  ///< This and the next three: of the day's trades; without trades they mean nothing.
    price_ticks high;
    price_ticks low;
    price_ticks last;
    contracts_total volume;  ///< Of the day.
    instrument_id instrument;
    product_id product;
    contracts order_quantity_max;
    std::uint32_t expiry_yyyymmdd;
    std::uint32_t trades;  ///< Of the day.
    instrument_kind type;
    lone_order_policy lone_orders;
    market_phase phase;

    bool operator==(const instrument_row&) const = default;
};

struct product_row {
    product_id product;
    std::uint32_t multiplier;
    contracts lot;
    std::uint32_t bands;  ///< How many of the next four count.
    tick_band tick_1;
    tick_band tick_2;
    tick_band tick_3;
    tick_band tick_4;
    bool retired;
};

/// Of a day, which lasts until its market is opened again after it was ended. A value is price x quantity x
/// multiplier, as far as 63 bits hold it.
struct report_row {
    std::int64_t position_begin;  ///< Of the day, what was brought along included.
    contracts_total bought;
    contracts_total sold;
    std::int64_t bought_value;
    std::int64_t sold_value;
    std::int64_t
        position_end;  ///< Or now, if the day is not over: that at its begin, and bought less sold.
    account_id account;
    instrument_id instrument;
    std::uint32_t trades;

    bool operator==(const report_row&) const = default;
};

/// How many rows a page has at most, so that it is no larger than what clients take for a packet.
template <class Row>
inline constexpr std::uint16_t query_rows_max = 32;
template <>
inline constexpr std::uint16_t query_rows_max<instrument_row> = 16;
template <>
inline constexpr std::uint16_t query_rows_max<product_row> = 16;
template <>
inline constexpr std::uint16_t query_rows_max<report_row> = 24;

template <class Row>
struct query_page {
    query_place from;  ///< As asked.
    query_place next;  ///< Where the list goes on; 0 if this is the last.
    /// The number of the first message of the asker's own stream that is not in here. An answer may arrive
    /// before messages of that stream that are.
    std::uint64_t next_in_stream;
    account_id account;        ///< As asked; to a session, its own.
    instrument_id instrument;  ///< As asked.
    bool last;
    std::uint16_t count;
    std::array<Row, query_rows_max<Row>> rows;  ///< `count` of them.
};

using orders_page = query_page<order_row>;
using positions_page = query_page<position_row>;
using accounts_page = query_page<account_row>;
using sessions_page = query_page<session_row>;
using instruments_page = query_page<instrument_row>;
using products_page = query_page<product_row>;
using report_page = query_page<report_row>;

}  // namespace exchange
