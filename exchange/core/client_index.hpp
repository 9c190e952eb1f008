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
// by a number that they need not know. Of 2^n places, two lines share one for at most 2 in 2^n
// multipliers, whichever two lines they are. A better mix that is public was rejected: to search it
// takes a moment longer.
#pragma once

#include <exchange/core/slab.hpp>
#include <exchange/core/types.hpp>

#include <bit>
#include <cstdint>
#include <vector>

namespace exchange {

class client_index {
public:
    /// @param  orders_max  Orders that may be in it at once.
    /// @param  key         Any number. What is found does not depend on it, but who is in whose way.
    explicit client_index(std::uint32_t orders_max, std::uint64_t key)
        : heads_(std::bit_ceil(std::uint64_t{orders_max} + 9)),
          multiplier_{0x9e37'79b9'7f4a'7c15 ^ key << 1},
          shift_{static_cast<unsigned>(std::countl_zero(heads_.size() / 8)) + 1} {}

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
        return from(orders, heads_[place(session, client_seq)], session, client_seq);
    }

    /// Another order of the same name as `index`, inserted before it, or none.
    [[nodiscard]] order_index find_before(const order_slab& orders,
                                          order_index index) const noexcept {
        const order& it = orders[index];
        return from(orders, it.chain_next, it.session, it.client_seq);
    }

    /// Where the orders of this name are chained, with those of other names.
    [[nodiscard]] std::size_t place(session_id session, client_sequence client_seq) const noexcept {
        const std::uint64_t line = std::uint64_t{number(session)} << 32 | number(client_seq) >> 3;
        return (line * multiplier_ >> shift_) << 3 | (number(client_seq) & 7);
    }

private:
    [[nodiscard]] static order_index from(const order_slab& orders, order_index at,
                                          session_id session, client_sequence client_seq) noexcept {
        while (at != 0 && (orders[at].client_seq != client_seq || orders[at].session != session)) {
            at = orders[at].chain_next;
        }
        return at;
    }

    std::vector<order_index> heads_;  // Invariant: the size is a power of two, and at least 16.
    std::uint64_t multiplier_;        // Invariant: odd.
    unsigned shift_;                  // Leaves as many bits as there are lines of eight.
};

}  // namespace exchange
