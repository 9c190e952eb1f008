// SPDX-License-Identifier: BSL-1.0
//
// The public view: resting orders and trades, rebuilt from the feed alone.
//
// Traders compare with it what they were told in private: the same trades, at the same price, and each of
// their resting orders with the same open quantity.
#pragma once

#include <exchange/bin/order_view.hpp>
#include <exchange/codec/event_codec.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

namespace exchange {

/// Threads:  One at a time.
/// Cost:     An entry for each order that rests, and for each trade.
class feed_view {
public:
    /// Takes one message of the feed.
    void hear(std::span<const std::byte> message);

    /// How what a trader believes differs from what the public knows; nothing if it does not. The public
    /// may be late: ask again.
    [[nodiscard]] std::optional<std::string> difference(const order_view& trader) const;

    [[nodiscard]] std::uint64_t messages() const noexcept { return messages_; }
    [[nodiscard]] std::uint64_t unreadable() const noexcept { return unreadable_; }
    [[nodiscard]] std::size_t resting() const noexcept { return orders_.size(); }
    [[nodiscard]] std::size_t trades() const noexcept { return trades_.size(); }

    // Of decode_public_event.
    void operator()(const event_stamp&, const order_book_update& it);
    void operator()(const event_stamp&, const trade& it);
    void operator()(const event_stamp&, const auto&) {}

private:
    struct public_order {
        instrument_id instrument;
        order_side side;
        price_ticks price;
        contracts open;
    };

    std::unordered_map<std::uint64_t, public_order> orders_;
    std::unordered_map<std::uint64_t, own_trade> trades_;
    std::uint64_t messages_ = 0;
    std::uint64_t unreadable_ = 0;
};

}  // namespace exchange
