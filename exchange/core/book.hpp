// SPDX-License-Identifier: BSL-1.0
//
// The orders of one market that rest: which is first at the best price, and where each one stands.
//
// It keeps price and time priority and the sums of its levels, of what is shown, and knows nothing of
// accounts, events or matching. Auctions will let the sides overlap for a while, so it never assumes that
// they do not.
#pragma once

#include <exchange/core/advanced_terms.hpp>
#include <exchange/core/ladder.hpp>
#include <exchange/core/slab.hpp>

#include <array>

namespace exchange {

/// What all books of a partition take from; reserved at the start.
struct book_memory {
    order_slab orders;
    level_memory levels;
    advanced_table advanced{0};  ///< As many as there are orders, where there may be advanced ones.
    zeroed_array<contracts_total> hidden{
        0};  ///< By level, of all its orders; as many as there are levels, where some may hide.

    /// What is open at a level, whether it is shown or not.
    [[nodiscard]] contracts_total quantity_at(level_index at) const noexcept {
        const price_level& level = levels.chunks.level(at);
        return level.advanced == 0 ? level.quantity : level.quantity + hidden[at];
    }

    /// What is open of an order, whether it is shown or not.
    [[nodiscard]] contracts open_of(const order& it) const noexcept {
        return it.advanced ? it.open + advanced[index_of(it.id)].hidden : it.open;
    }

    /// Is it a stop that was not triggered?
    [[nodiscard]] bool waits(order_index index) const noexcept {
        return orders[index].advanced && advanced[index].waits;
    }
};

[[nodiscard]] constexpr price_rank rank_of(order_side side, price_ticks price) noexcept {
    return side == order_side::sell ? price : -price;
}

[[nodiscard]] constexpr price_ticks price_of(order_side side, price_rank rank) noexcept {
    return side == order_side::sell ? rank : -rank;
}

class book {
public:
    /// Is there room for an order at this price?
    [[nodiscard]] bool has_room(const book_memory& memory, order_side side,
                                price_ticks price) const noexcept {
        return of(side).has_room(memory.levels, rank_of(side, price));
    }

    /// Puts an order, with its price, side and open quantity, last at its price. It `has_room`.
    void add(book_memory& memory, order_index index) noexcept {
        order& it = memory.orders[index];
        it.level = levels(it.side).open(memory.levels, rank_of(it.side, it.price));
        price_level& level = memory.levels.chunks.level(it.level);
        it.next = 0;
        it.previous = level.last;
        if (level.last == 0) level.first = index;
        else memory.orders[level.last].next = index;
        level.last = index;
        level.quantity += it.open;
        ++level.orders;
        if (it.advanced) [[unlikely]] {
            ++level.advanced;
            memory.hidden[it.level] += memory.advanced[index].hidden;
        }
    }

    /// Takes an order out, with what is open of it. Its place in the slab stays taken.
    void remove(book_memory& memory, order_index index) noexcept {
        const order& it = memory.orders[index];
        price_level& level = memory.levels.chunks.level(it.level);
        if (it.previous == 0) level.first = it.next;
        else memory.orders[it.previous].next = it.next;
        if (it.next == 0) level.last = it.previous;
        else memory.orders[it.next].previous = it.previous;
        level.quantity -= it.open;
        if (it.advanced) [[unlikely]] {
            --level.advanced;
            memory.hidden[it.level] -= memory.advanced[index].hidden;
        }
        if (--level.orders == 0) levels(it.side).close(memory.levels, it.level);
    }

    /// Takes `by` from an order that keeps its place; at most what is open. Only the caller may know
    /// that nothing is left.
    static void reduce(book_memory& memory, order_index index, contracts by) noexcept {
        order& it = memory.orders[index];
        it.open -= by;
        memory.levels.chunks.level(it.level).quantity -= by;
    }

    /// The best level of a side, or none.
    [[nodiscard]] level_index best(order_side side) const noexcept { return of(side).best(); }

    /// Would an order of `side` at `price` find a counterparty?
    [[nodiscard]] bool crosses(order_side side, price_ticks price) const noexcept {
        const ladder& other = of(opposite(side));
        // A rank of one side is a negated rank of the other: they meet when their sum is not above 0.
        return other.best() != 0 && other.best_rank() + rank_of(side, price) <= 0;
    }

    [[nodiscard]] const ladder& of(order_side side) const noexcept { return sides_[number(side)]; }

private:
    [[nodiscard]] ladder& levels(order_side side) noexcept { return sides_[number(side)]; }

    std::array<ladder, 2> sides_;
};

}  // namespace exchange
