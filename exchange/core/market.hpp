// SPDX-License-Identifier: BSL-1.0
//
// One market: its terms, its phase, its book, and what it has published about itself.
//
// In the phases of an auction its sides may overlap; auction.hpp tells how they are uncrossed.
#pragma once

#include <exchange/core/book.hpp>
#include <exchange/core/events.hpp>
#include <exchange/core/reference.hpp>
#include <exchange/core/stop_book.hpp>

#include <array>
#include <cstdint>

namespace exchange {

/// Why nothing can be entered or amended in this phase, or `none`. Cancelling is always possible.
[[nodiscard]] constexpr reject_reason allows_entry(market_phase phase) noexcept {
    switch (phase) {
        case market_phase::closed:
        case market_phase::ended: return reject_reason::market_closed;
        case market_phase::halted: return reject_reason::market_halted;
        case market_phase::continuous:
        case market_phase::pre_open:
        case market_phase::opening_auction:
        case market_phase::closing_auction:
        case market_phase::volatility_auction: return reject_reason::none;
    }
    return reject_reason::market_closed;
}

/// Are orders collected for an auction? Then none trades on arrival.
[[nodiscard]] constexpr bool is_collecting(market_phase phase) noexcept {
    return phase >= market_phase::pre_open && phase <= market_phase::volatility_auction;
}

/// Where an order at the market stands while an auction lasts: before every limit but this one itself.
[[nodiscard]] constexpr price_ticks market_price(order_side side) noexcept {
    return side == order_side::buy ? price_ticks_max : -price_ticks_max;
}

/// What a market knows of its auctions and its days, beside its phase.
struct market_cycle {
    price_ticks collar;  ///< See `set_interruption`, as the next.
    timestamp_ns duration_ns;
    timestamp_ns ends_at;  ///< Of a volatility auction; 0: it does not end by itself.
    timestamp_ns due_at;   ///< When the schedule says what is next; 0: it says nothing,
    market_phase due;      ///< and the phase.
    std::array<std::uint32_t, 8>
        schedule;             ///< By phase: a second of the day, and 1; 0 where it is none.
    auction_indication told;  ///< The last one of this auction.
    trade_id day_begin;       ///< Trades up to this one are of days that are over.
    std::uint32_t day;        ///< Counts the days of the reports.
    bool day_over;            ///< The next one begins when the market is opened.
    bool touched;             ///< Is it in the list of `venue` that the next one continues?
    std::uint16_t next_touched;
};

struct market {
    instrument_terms terms;  ///< `terms.instrument.instrument` is none while it is not defined.
    market_phase phase;
    timestamp_ns expires_at;  ///< From then on nothing is entered, whatever the phase.
    market_statistics day;    ///< Zero trades: the prices mean nothing.
    top_of_book told;         ///< The last one that was published.
    market_cycle cycle;
    stop_book stops;  ///< Here, since its first line is looked at with each trade.
    exchange::book book;
};

/// What prices are compared with: the last one of the day, or before there is one the settlement price.
[[nodiscard]] inline price_ticks reference_price(const market& in) noexcept {
    return in.day.trades != 0 ? in.day.last : in.terms.instrument.settlement_price;
}

/// Does something bound what an order at the market pays that arrives now? In an auction only a collar does.
[[nodiscard]] inline bool is_protected(const market& in) noexcept {
    return is_collecting(in.phase) ? has_collar(in.terms) : is_protected(in.terms);
}

/// Of an order at the market of this side that comes now: what it would meet first, or settlement, bounds it;
/// in an auction its price, within the collar unless what names it is of an earlier one. It `is_protected`.
[[nodiscard]] inline priced price_at_market(const market& in, order_side side) noexcept {
    if (is_collecting(in.phase)) return {market_price(side), collar_limit(in.terms, side)};
    const ladder& others = in.book.of(opposite(side));
    if (others.best() != 0)
        return price_at_market(in.terms, side, price_of(opposite(side), others.best_rank()));
    const price_ticks limit = market_limit(in.terms, side, in.terms.instrument.settlement_price);
    return {limit, limit};
}

/// Has the last trade of this day reached the trigger already?
[[nodiscard]] inline bool has_passed(const market_statistics& day, order_side side,
                                     price_ticks trigger) noexcept {
    if (day.trades == 0) return false;
    return side == order_side::buy ? day.last >= trigger : day.last <= trigger;
}

/// Counts a trade of this day.
inline void count_trade(market_statistics& day, price_ticks price, contracts quantity) noexcept {
    if (day.trades == 0) day.open = day.high = day.low = price;
    if (price > day.high) day.high = price;
    if (price < day.low) day.low = price;
    day.last = price;
    day.volume += quantity;
    ++day.trades;
}

}  // namespace exchange
