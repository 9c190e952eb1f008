// SPDX-License-Identifier: BSL-1.0
//
// Subscriptions and what they bring as SBE messages, there and back: market_subscription.hpp says what they
// mean.
#pragma once

#include <exchange/codec/event_codec.hpp>
#include <exchange/codec/market_subscription.hpp>
#include <exchange/schema/market_data_session.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <span>

namespace exchange {

/// The longest message of a distributor's.
inline constexpr std::size_t market_message_bytes_max =
    std::max({market_data_session::book_snapshot_writer::message_bytes(told_levels_max),
              market_data_session::book_delta_writer::message_bytes(told_levels_max),
              market_data_session::trades_printed_writer::message_bytes(told_trades_max)});

/// A record without a list.
template <class Record>
concept plain_market_record =
    std::same_as<Record, subscribe> || std::same_as<Record, unsubscribe> ||
    std::same_as<Record, subscribed> || std::same_as<Record, subscription_refused> ||
    std::same_as<Record, market_summary>;

/// @return The bytes written.
template <plain_market_record Record>
constexpr std::size_t encode_market(const Record& it, std::span<std::byte> out) noexcept {
    constexpr std::size_t size = message_bytes_of<Record>;
    typename sbe::wire<Record>::writer{out.template first<size>()}.copy_from(it);
    return size;
}

/// Those with a list. @param  out  At least `market_message_bytes_max`. @return The bytes written.
template <class Record>
    requires std::same_as<Record, book_snapshot> || std::same_as<Record, book_delta>
constexpr std::size_t encode_market(const Record& it, std::span<std::byte> out) noexcept {
    using writer = typename sbe::wire<Record>::writer;
    writer message{out, it.count};
    message.copy_from(it);
    for (std::uint16_t each = 0; each < it.count; ++each)
        message.levels(each).copy_from(it.levels[each]);
    return writer::message_bytes(it.count);
}
constexpr std::size_t encode_market(const trades_printed& it, std::span<std::byte> out) noexcept {
    using writer = market_data_session::trades_printed_writer;
    writer message{out, it.count};
    message.copy_from(it);
    for (std::uint16_t each = 0; each < it.count; ++each)
        message.trades(each).copy_from(it.trades[each]);
    return writer::message_bytes(it.count);
}

// Implementation

template <class Visitor>
struct market_reading {
    Visitor& visitor;
    bool from_subscriber;

    template <class Reader>
    constexpr decode_fault operator()(const Reader& reader) const {
        using record = typename Reader::record;
        if ((Reader::template_id < 128) != from_subscriber)
            return {decode_error::unexpected_message, 0};
        record it{};
        reader.copy_to(it);
        if constexpr (requires { reader.levels_count(); }) {
            if (reader.levels_count() > told_levels_max) return {decode_error::group_too_long, 5};
            it.count = static_cast<std::uint16_t>(reader.levels_count());
            for (std::uint16_t each = 0; each < it.count; ++each)
                reader.levels(each).copy_to(it.levels[each]);
        }
        if constexpr (requires { reader.trades_count(); }) {
            if (reader.trades_count() > told_trades_max) return {decode_error::group_too_long, 3};
            it.count = static_cast<std::uint16_t>(reader.trades_count());
            for (std::uint16_t each = 0; each < it.count; ++each)
                reader.trades(each).copy_to(it.trades[each]);
        }
        visitor(it);
        return {};
    }
};

// End of implementation

/// Reads what a subscriber says: calls `visitor` with a `subscribe` or an `unsubscribe`, or not at all.
///
/// Errors: any `decode_error`; `unexpected_message` for what a distributor says.
template <class Visitor>
constexpr decode_fault decode_subscription(std::span<const std::byte> bytes, Visitor&& visitor) {
    return market_data_session::read_message(bytes, market_reading<Visitor>{visitor, true});
}

/// Reads what a distributor says; as above, the other way round.
template <class Visitor>
constexpr decode_fault decode_market_message(std::span<const std::byte> bytes, Visitor&& visitor) {
    return market_data_session::read_message(bytes, market_reading<Visitor>{visitor, false});
}

}  // namespace exchange
