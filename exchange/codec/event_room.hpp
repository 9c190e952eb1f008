// SPDX-License-Identifier: BSL-1.0
//
// How much memory one command can fill at once, for a session and for the feed.
//
// A command is carried out as a whole: no reader can read before all that it causes stands in its
// rings. So a ring that holds less loses messages even of the fastest reader. What a command causes
// is bounded by the orders that rest and the markets that end, which the partition limits; the rows are
// those of core/publisher.hpp.
#pragma once

#include <exchange/codec/event_codec.hpp>
#include <exchange/codec/mold_packet.hpp>
#include <exchange/codec/soup_packet.hpp>

#include <algorithm>
#include <cstddef>

namespace exchange {

/// In a message_ring, framing included.
struct ring_room {
    std::size_t messages = 0;
    std::size_t bytes = 0;

    [[nodiscard]] friend constexpr bool operator==(ring_room, ring_room) noexcept = default;
};

// Implementation

/// Of so many messages for each framing.
template <std::size_t Framing, event_record... Events>
inline constexpr ring_room room_of{sizeof...(Events),
                                   (0 + ... + (Framing + message_bytes_of<Events>))};

[[nodiscard]] constexpr ring_room operator+(ring_room left, ring_room right) noexcept {
    return {left.messages + right.messages, left.bytes + right.bytes};
}
[[nodiscard]] constexpr ring_room operator*(std::size_t times, ring_room each) noexcept {
    return {times * each.messages, times * each.bytes};
}

/// Beside what orders cause that are met: both sides of a quote that replaces another, and what a ring
/// cannot use where its end is, twice.
inline constexpr std::size_t messages_beside = 24;

// End of implementation

/// What one side of a fill is told. An order that cannot be filled because of self-trade prevention, or
/// that is cancelled, causes less.
inline constexpr ring_room session_room_of_fill =
    room_of<soup_header_bytes, order_executed, trade_capture_report>;

/// What the public is told of a fill; of a cancelled order, less.
inline constexpr ring_room feed_room_of_fill =
    room_of<mold_block_bytes, trade, volume_update, order_book_update, price_level_update,
            market_statistics, top_of_book>;

/// What the public is told of a market that ends, beside its cancelled orders.
inline constexpr ring_room feed_room_of_ending = room_of<mold_block_bytes, phase_changed>;

/// The room for whatever one command tells one session.
///
/// The worst is an order of its own that meets all that rest: of each it is told one side of the fill, and
/// both sides of those that are its own.
///
/// @param  orders_max      That rest in the partition.
/// @param  own_orders_max  That the session's account may have among them.
[[nodiscard]] constexpr ring_room session_room(std::size_t orders_max,
                                               std::size_t own_orders_max) noexcept {
    const std::size_t sides = orders_max + std::min(orders_max, own_orders_max);
    return sides * session_room_of_fill + messages_beside * session_room_of_fill;
}

/// The room for whatever one command tells the public: an order that meets all that rest, or an expiry of
/// all markets, which cancels them.
///
/// A third more than that, since a turn ends only once a quarter of the ring waits to be sent
/// (mold_sender.hpp), and the next command may be this one.
[[nodiscard]] constexpr ring_room feed_room(std::size_t orders_max,
                                            std::size_t instruments_max) noexcept {
    const std::size_t fills = orders_max + orders_max / 3;
    const std::size_t endings = instruments_max + instruments_max / 3;
    return fills * feed_room_of_fill + endings * feed_room_of_ending +
           messages_beside * feed_room_of_fill;
}

static_assert(room_of<soup_header_bytes, order_cancelled, order_amended>.bytes <=
                  2 * session_room_of_fill.bytes,
              "of an order that is not filled, both sides are told less");

}  // namespace exchange
