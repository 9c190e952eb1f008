// SPDX-License-Identifier: BSL-1.0
//
// Finds an order by what its client called it: session and client sequence.
//
// A client may cancel before it was told an id, so the sequence alone has to find the order. Eight
// consecutive sequences of a session share a cache line of this table, since clients number upward;
// which line, a hash says, so no session runs into the numbers of another. Orders of one place are
// chained through the orders themselves. A quote's two orders answer to the same sequence.
//
// Clients choose their sequences. Of any hash that they know, thousands of numbers of a session share a
// place, and a client that enters those makes all that happens there slow; so the hash multiplies
// by numbers that they need not know. Of 2^n places, two lines share one for at most 2 in 2^n
// multipliers, whichever two lines they are. A better mix that is public was rejected: to search it
// takes a moment longer.
#pragma once

#include <exchange/core/slab.hpp>
#include <exchange/core/types.hpp>
#include <exchange/core/zeroed_array.hpp>

#include <bit>
#include <cstdint>

namespace exchange {

class client_index {
public:
    /// @param  orders_max  Orders that may be in it at once.
    /// @param  key         Any number. What is found does not depend on it, but who is in whose way.
    explicit client_index(std::uint32_t orders_max, std::uint64_t key)
        : heads_{heads_for(orders_max)},
          multiplier_{0x9e37'79b9'7f4a'7c15 ^ key << 1},
          session_multiplier_{0xc2b2'ae3d'27d4'eb4f ^ std::rotl(key, 32) << 1},
          shift_{static_cast<unsigned>(std::countl_zero(heads_.size() / 8)) + 1} {}

    /// The places among which so many orders are spread.
    [[nodiscard]] static constexpr std::size_t heads_for(std::uint32_t orders_max) noexcept {
        return std::bit_ceil(std::uint64_t{orders_max} + 9);
    }

    void insert(order_slab& orders, order_index index) noexcept {
        order& it = orders[index];
        order_index& head = heads_[place(it.session, it.client_seq)];
        it.chain_next = head;
        head = index;
    }

    /// It was inserted.
    void erase(order_slab& orders, order_index index) noexcept {
        const order& it = orders[index];
        order_index* link = &heads_[place(it.session, it.client_seq)];
        while (*link != index) link = &orders[*link].chain_next;
        *link = it.chain_next;
    }

    /// The latest order of that name that rests, or none.
    [[nodiscard]] order_index find(const order_slab& orders, session_id session,
                                   client_sequence client_seq) const noexcept {
        order_index at = heads_[place(session, client_seq)];
        while (at != 0 && (orders[at].client_seq != client_seq || orders[at].session != session)) {
            at = orders[at].chain_next;
        }
        return at;
    }

    /// Where the orders of this name are chained, with those of other names.
    [[nodiscard]] std::size_t place(session_id session, client_sequence client_seq) const noexcept {
        const std::uint64_t line =
            (number(client_seq) >> 3) * multiplier_ + number(session) * session_multiplier_;
        return (line >> shift_) << 3 | (number(client_seq) & 7);
    }

private:
    zeroed_array<order_index> heads_;  // Invariant: the size is a power of two, and at least 16.
    std::uint64_t multiplier_;         // Invariant: odd, as the next.
    std::uint64_t session_multiplier_;
    unsigned shift_;  // Leaves as many bits as there are lines of eight.
};

}  // namespace exchange
