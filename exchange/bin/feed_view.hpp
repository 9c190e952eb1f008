// SPDX-License-Identifier: BSL-1.0
//
// The public view: resting orders and trades, rebuilt from the feed alone.
//
// Traders compare with it what they were told in private: the same trades, at the same price, and each of
// their resting orders with what it shows of its open quantity.
#pragma once

#include <exchange/bin/order_view.hpp>
#include <exchange/codec/event_codec.hpp>
#include <exchange/core/slab.hpp>

#include <array>
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

    /// The exchange has begun another life: what was known of the old one is dead, and is forgotten.
    void begin_life() noexcept;

    /// How what a trader believes differs from what the public knows; nothing if it does not. The public
    /// may be late: ask again.
    [[nodiscard]] std::optional<std::string> difference(const order_view& trader) const;

    [[nodiscard]] std::uint64_t messages() const noexcept { return messages_; }
    [[nodiscard]] std::uint64_t unreadable() const noexcept { return unreadable_; }
    /// How many lives it has heard of.
    [[nodiscard]] std::uint64_t lives() const noexcept { return lives_; }
    /// Messages that cannot be of the life whose messages came before: their numbers do not rise.
    [[nodiscard]] std::uint64_t misplaced() const noexcept { return misplaced_; }
    [[nodiscard]] std::size_t resting() const noexcept { return orders_.size(); }
    [[nodiscard]] std::size_t trades() const noexcept { return trades_.size(); }

    // Of decode_public_event.
    void operator()(const event_stamp& stamp, const auto& it) {
        out_sequence& last = last_out_seq_[partition_of(stamp.out_seq)];
        if (stamp.out_seq <= last) ++misplaced_;
        last = stamp.out_seq;
        take(it);
    }

private:
    struct public_order {
        instrument_id instrument;
        order_side side;
        price_ticks price;
        contracts open;
    };

    void take(const order_book_update& it);
    void take(const trade& it);
    void take(const auto&) {}

    std::unordered_map<std::uint64_t, public_order> orders_;
    std::unordered_map<std::uint64_t, own_trade> trades_;
    std::array<out_sequence, partitions_limit> last_out_seq_{};  // Of each partition.
    std::uint64_t messages_ = 0;
    std::uint64_t unreadable_ = 0;
    std::uint64_t misplaced_ = 0;
    std::uint64_t lives_ = 1;
};

}  // namespace exchange
