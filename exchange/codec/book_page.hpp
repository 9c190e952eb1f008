// SPDX-License-Identifier: BSL-1.0
//
// A question about a book, and its answers: part of one side, and where the feed goes on from there.
//
// Neither is a command or an event: they have no place in any sequence and change nothing. A book that is
// larger than a page is read page by page, each from where the last one ended. It may change meanwhile;
// since price_level_update says what a level *is*, a listener that applies the feed from the first
// page's `next_in_feed` on has the book all the same, once it has applied as much as the last page
// knew.
#pragma once

#include <exchange/core/types.hpp>

#include <array>
#include <cstdint>

namespace exchange {

/// Asks for a page. The first one of a side begins at `best_of` it.
struct book_request {
    instrument_id instrument;
    price_ticks from;  ///< Levels that are at this price or worse.
    order_side side;

    bool operator==(const book_request&) const = default;
};

/// As good as a price of this side can be.
[[nodiscard]] constexpr price_ticks best_of(order_side side) noexcept {
    return side == order_side::buy ? price_ticks_max : -price_ticks_max;
}

struct book_level {
    price_ticks price;
    contracts_total quantity;
    std::uint32_t orders;

    bool operator==(const book_level&) const = default;
};

inline constexpr std::uint16_t book_page_levels_max = 64;

/// Some levels of a side, best first.
struct book_page {
    std::uint64_t
        next_in_feed;  ///< The number of the first message of the feed that is not in here.
    price_ticks from;  ///< As asked.
    instrument_id instrument;
    order_side side;
    market_phase phase;
    bool last;  ///< There are no levels behind these.
    std::uint16_t count;
    std::array<book_level, book_page_levels_max> levels;  ///< `count` of them.
};

/// What is asked for is not there.
struct book_refused {
    instrument_id instrument;
    reject_reason reason;

    bool operator==(const book_refused&) const = default;
};

}  // namespace exchange
