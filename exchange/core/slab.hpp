// SPDX-License-Identifier: BSL-1.0
//
// The storage of orders: a cache line each, in one block that is allocated at the start.
//
// Everything points to an order by its 32-bit index. What clients are told is an `order_id`, index and
// generation together, so the id of an order that is over never means its successor in that place.
#pragma once

#include <exchange/core/check.hpp>
#include <exchange/core/types.hpp>

#include <cstdint>
#include <vector>

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
    order_index next;  ///< At the same price, towards later; in the slab's free list otherwise.
    order_index previous;
    order_index account_next;  ///< Of the same account, towards later.
    order_index account_previous;
    order_index chain_next;  ///< In `client_index`.
    level_index level;
    holding_index holding;
    contracts open;  ///< 0 only while it is free.
    contracts executed;
    client_sequence client_seq;
    session_id session;
    std::uint16_t market;  ///< The number of its instrument.
    order_side side;
    time_in_force tif;
    execution_instruction instruction;
    self_trade_action self_trade;  ///< Never `account_default`.
};

static_assert(sizeof(order) == 64, "one order, one cache line");

/// The places of a slab, of which `order_id` keeps this many low bits; the rest is the generation.
inline constexpr unsigned order_index_bits = 24;
inline constexpr std::uint32_t orders_limit = (1u << order_index_bits) - 1;

class order_slab {
public:
    /// @param  capacity  Orders that may exist at once; at most `orders_limit`.
    explicit order_slab(std::uint32_t capacity) : orders_(capacity + 1) {
        expects(capacity <= orders_limit);
        for (std::uint32_t each = 1; each <= capacity; ++each) {
            orders_[each].id = order_id{(std::uint64_t{1} << order_index_bits) | each};
        }
    }

    [[nodiscard]] bool has(std::uint32_t wanted) const noexcept {
        return orders_.size() - 1 - in_use_ >= wanted;
    }

    /// A place with an id never seen before; its other fields are as the last tenant left them.
    /// The caller has asked `has(1)`.
    [[nodiscard]] order_index take() noexcept {
        expects(has(1));
        ++in_use_;
        if (free_ == 0) return fresh_++;
        const order_index taken = free_;
        free_ = orders_[taken].next;
        return taken;
    }

    void give_back(order_index gone) noexcept {
        order& it = orders_[gone];
        it.id = order_id{number(it.id) + (std::uint64_t{1} << order_index_bits)};
        it.open = 0;
        // Last in, first out: the next order finds its line in the cache.
        it.next = free_;
        free_ = gone;
        --in_use_;
    }

    /// The order with this id, or none if it is over or never was.
    [[nodiscard]] order_index find(order_id id) const noexcept {
        const auto index = static_cast<order_index>(number(id)) & orders_limit;
        if (index == 0 || index >= orders_.size()) return 0;
        // A free place holds the id of its next order, which a client could guess.
        return orders_[index].id == id && orders_[index].open != 0 ? index : 0;
    }

    [[nodiscard]] order& operator[](order_index at) noexcept { return orders_[at]; }
    [[nodiscard]] const order& operator[](order_index at) const noexcept { return orders_[at]; }

    [[nodiscard]] std::uint32_t in_use() const noexcept { return in_use_; }

private:
    std::vector<order> orders_;
    order_index free_ = 0;
    order_index fresh_ = 1;  // Invariant: no place from here on was ever taken.
    std::uint32_t in_use_ = 0;
};

}  // namespace exchange
