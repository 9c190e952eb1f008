// SPDX-License-Identifier: BSL-1.0
//
// One market: its terms, its phase, its book, and what it has published about itself.
//
// A new phase (pre-open, auction) is a value of `market_phase` and a question in `allows_entry`; an
// uncross walks the same book.
#pragma once

#include <exchange/core/book.hpp>
#include <exchange/core/events.hpp>
#include <exchange/core/reference.hpp>
#include <exchange/core/stop_book.hpp>

namespace exchange {

/// Why nothing can be entered or amended in this phase, or `none`. Cancelling is always possible.
[[nodiscard]] constexpr reject_reason allows_entry(market_phase phase) noexcept {
    switch (phase) {
        case market_phase::closed:
        case market_phase::ended: return reject_reason::market_closed;
        case market_phase::halted: return reject_reason::market_halted;
        case market_phase::continuous: return reject_reason::none;
    }
    return reject_reason::market_closed;
}

struct market {
    instrument_terms terms;  ///< `terms.instrument.instrument` is none while it is not defined.
    market_phase phase;
    timestamp_ns expires_at;  ///< From then on nothing is entered, whatever the phase.
    market_statistics day;    ///< Zero trades: the prices mean nothing.
    top_of_book told;         ///< The last one that was published.
    stop_book stops;          ///< Here, since its first line is looked at with each trade.
    exchange::book book;
};

/// Of a market order of this side that arrives now: what it would meet first, or settlement, bounds it.
[[nodiscard]] inline priced price_at_market(const market& in, order_side side) noexcept {
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
