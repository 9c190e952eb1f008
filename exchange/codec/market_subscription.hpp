// SPDX-License-Identifier: BSL-1.0
//
// What subscribers and a distributor of market data say to each other, as records.
//
// market_data_session.xml has the words, market_subscription_codec.hpp the bytes.
#pragma once

#include <exchange/core/types.hpp>

#include <array>
#include <cstdint>

namespace exchange {

enum class subscription_refusal : std::uint8_t {
    unknown_instrument = 1,
    too_many = 2,
    too_deep = 3,
    nothing_wanted = 4
};

/// What a subscriber wants of an instrument. Another one takes the place of the one before.
struct subscribe {
    std::uint32_t request;  ///< The subscriber's own number, for the answer.
    instrument_id
        instrument;       ///< None: of all, those that come later as well, in place of all before.
    std::uint16_t depth;  ///< Levels of a side, at most `subscription_depth_max`; 0: all.
    bool book;
    bool trades;
    bool summary;  ///< Phase, sums of the day, indication of an auction.

    bool operator==(const subscribe&) const = default;
};
inline constexpr std::uint16_t subscription_depth_max = 32;

struct unsubscribe {
    std::uint32_t request;
    instrument_id instrument;  ///< None: all.

    bool operator==(const unsubscribe&) const = default;
};

/// So it is from here on; behind an `unsubscribe` without anything.
struct subscribed {
    std::uint32_t request;
    instrument_id instrument;
    std::uint16_t depth;
    bool book;
    bool trades;
    bool summary;

    bool operator==(const subscribed&) const = default;
};

struct subscription_refused {
    std::uint32_t request;
    instrument_id instrument;
    subscription_refusal reason;

    bool operator==(const subscription_refused&) const = default;
};

/// A level as a subscriber is told it; without orders it is gone.
struct told_level {
    price_ticks price;
    contracts_total quantity;
    std::uint32_t orders;
    order_side side;

    bool operator==(const told_level&) const = default;
};
inline constexpr std::uint16_t told_levels_max = 64;  // In one message.

/// Levels in place of all that were known, from the first to the last of these.
struct book_snapshot {
    std::uint64_t state;
    instrument_id instrument;
    bool first;
    bool last;
    std::uint16_t count;
    std::array<told_level, told_levels_max> levels;  ///< `count` of them.
};

/// Levels that are others than at the previous state.
struct book_delta {
    std::uint64_t previous;
    std::uint64_t state;
    instrument_id instrument;
    bool last;  ///< No more of this state follow.
    std::uint16_t count;
    std::array<told_level, told_levels_max> levels;  ///< `count` of them.
};

struct told_trade {
    trade_id id;
    price_ticks price;
    timestamp_ns time;
    contracts quantity;
    order_side aggressor;  ///< Of an auction's trade `sell`.
    bool busted;

    bool operator==(const told_trade&) const = default;
};
inline constexpr std::uint16_t told_trades_max = 64;  // In one message.

struct trades_printed {
    std::uint64_t dropped;  ///< Trades before these for which the subscriber read too slowly.
    instrument_id instrument;
    std::uint16_t count;
    std::array<told_trade, told_trades_max> trades;  ///< `count` of them, in their order.
};

struct market_summary {
    std::uint64_t state;
    price_ticks open;  // These mean nothing without trades.
    price_ticks high;
    price_ticks low;
    price_ticks last;
    contracts_total volume;
    price_ticks indicated_price;  // In an auction, if the sides meet.
    contracts_total indicated_volume;
    instrument_id instrument;
    std::uint32_t trades;
    market_phase phase;
    bool complete;  ///< Else messages are missing, and no book is told.

    bool operator==(const market_summary&) const = default;
};

}  // namespace exchange
