// SPDX-License-Identifier: BSL-1.0
//
// Finds an order by what its client called it: session and client sequence.
//
// A client may cancel before it was told an id, so the sequence alone has to find the order. Eight
// consecutive sequences of a session share a cache line of this table, since clients number upward;
// which line, a hash says, so no session can run into the numbers of another. Orders of one place are
// chained through the orders themselves. A quote's two orders answer to the same sequence.
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
    explicit client_index(std::uint32_t orders_max)
        : heads_(std::bit_ceil(std::uint64_t{orders_max} + 8)) {}

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

private:
    [[nodiscard]] std::size_t place(session_id session, client_sequence client_seq) const noexcept {
        const std::uint64_t line = std::uint64_t{number(session)} << 32 | number(client_seq) >> 3;
        const std::uint64_t mixed = line * 0x9e37'79b9'7f4a'7c15;
        return ((mixed >> 29 & ~std::uint64_t{7}) | (number(client_seq) & 7)) & (heads_.size() - 1);
    }

    [[nodiscard]] static order_index from(const order_slab& orders, order_index at,
                                          session_id session, client_sequence client_seq) noexcept {
        while (at != 0 && (orders[at].client_seq != client_seq || orders[at].session != session)) {
            at = orders[at].chain_next;
        }
        return at;
    }

    std::vector<order_index> heads_;  // Invariant: the size is a power of two.
};

}  // namespace exchange
