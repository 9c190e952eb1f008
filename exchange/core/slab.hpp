// SPDX-License-Identifier: BSL-1.0
//
// The storage of orders: a cache line each, in one block that is reserved at the start.
//
// Everything points to an order by its 32-bit index. What clients are told is an `order_id`, index and
// generation together, so the id of an order that is over never means its successor in that place.
#pragma once

#include <exchange/core/check.hpp>
#include <exchange/core/types.hpp>
#include <exchange/core/zeroed_array.hpp>

#include <cstdint>

namespace exchange {

/// A place in the slab. 0 is never used, so zeroed memory points to no order.
using order_index = std::uint32_t;

/// Chunk and slot of a price level in `chunk_pool`. 0 is none.
using level_index = std::uint32_t;

/// Account and market together: see accounts.hpp. 0 is none.
using holding_index = std::uint32_t;

struct alignas(64) order {
    order_id id;
    price_ticks price;
    client_sequence client_seq;
    order_index next;  ///< At the same price, towards later; in the slab's free list otherwise.
    order_index previous;
    order_index account_next;  ///< Of the same account, towards later.
    order_index account_previous;
    order_index chain_next;  ///< In `client_index`.
    level_index level;
    holding_index holding;  ///< Of its account in its market.
    contracts open;         ///< 0 only while it is free.
    contracts executed;
    session_id session;
    order_side side : 1;
    time_in_force tif : 3;
    execution_instruction instruction : 1;
    self_trade_action self_trade : 3;  ///< Never `account_default`.
    bool advanced : 1;                 ///< Has it `advanced_terms`?
};

static_assert(sizeof(order) == 64, "one order, one cache line");

/// Of an `order_id`, the low bits are the place in a slab, the high ones (as of a `trade_id`) the partition;
/// what is between them is the generation.
inline constexpr unsigned order_index_bits = 24;
inline constexpr std::uint32_t orders_limit = (1u << order_index_bits) - 1;

[[nodiscard]] constexpr std::uint32_t partition_of(order_id it) noexcept {
    return partition_of(number(it));
}

/// The place in its slab.
[[nodiscard]] constexpr order_index index_of(order_id it) noexcept {
    return static_cast<order_index>(number(it)) & orders_limit;
}

class order_slab {
public:
    static constexpr std::uint64_t generations = std::uint64_t{1}
                                                 << (partition_shift - order_index_bits);

    /// @param  capacity    Orders that may exist at once; at most `orders_limit`.
    /// @param  partition   Below `partitions_limit`.
    /// @param  generation  The first of each place; above zero.
    explicit order_slab(std::uint32_t capacity, std::uint32_t partition = 0,
                        std::uint64_t generation = 1)
        : orders_{std::size_t{capacity} + 1},
          first_id_{numbers_of(partition) | generation << order_index_bits} {
        expects(capacity <= orders_limit && partition < partitions_limit);
        expects(generation > 0 && generation < generations);
    }

    [[nodiscard]] bool has(std::uint32_t wanted) const noexcept {
        return orders_.size() - 1 - in_use_ - worn_out_ >= wanted;
    }

    /// A place with an id never seen before; its other fields are as the last tenant left them.
    /// The caller has asked `has(1)`.
    [[nodiscard]] order_index take() noexcept {
        expects(has(1));
        ++in_use_;
        if (free_ == 0) {
            orders_[fresh_].id = order_id{first_id_ | fresh_};
            return fresh_++;
        }
        const order_index taken = free_;
        free_ = orders_[taken].next;
        return taken;
    }

    void give_back(order_index gone) noexcept {
        order& it = orders_[gone];
        it.open = 0;
        --in_use_;
        // After 2^36 orders it would begin anew: a day, if a million a second were all to take this place.
        if ((number(it.id) >> order_index_bits) % generations == generations - 1) {
            ++worn_out_;
            return;
        }
        it.id = order_id{number(it.id) + (std::uint64_t{1} << order_index_bits)};
        // Last in, first out: the next order finds its line in the cache.
        it.next = free_;
        free_ = gone;
    }

    /// The order with this id, or none if it is over or never was.
    [[nodiscard]] order_index find(order_id id) const noexcept {
        const order_index index = index_of(id);
        if (index == 0 || index >= orders_.size()) return 0;
        // A free place holds the id of its next order, which a client could guess; a fresh one none.
        return orders_[index].id == id && orders_[index].open != 0 ? index : 0;
    }

    [[nodiscard]] order& operator[](order_index at) noexcept { return orders_[at]; }
    [[nodiscard]] const order& operator[](order_index at) const noexcept { return orders_[at]; }

    [[nodiscard]] std::uint32_t in_use() const noexcept { return in_use_; }

    /// No place from here on was ever taken.
    [[nodiscard]] order_index end() const noexcept { return fresh_; }

private:
    zeroed_array<order> orders_;
    order_index free_ = 0;
    order_index fresh_ = 1;  // See `end`.
    std::uint32_t in_use_ = 0;
    std::uint32_t worn_out_ = 0;  // Places that had every generation, and are not used any more.
    std::uint64_t first_id_;
};

}  // namespace exchange
