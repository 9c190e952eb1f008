// SPDX-License-Identifier: BSL-1.0
//
// The stops of one market that wait: which is the next that a trade reaches.
//
// As in a book, a ladder for each side and orders in time at each price; but by trigger, and those to
// buy from the lowest upward, since a price that rises reaches them in this sequence. Prices at which the
// market trades are noted while a command is carried out; what they reach is triggered afterwards
// (partition.hpp), until nothing is reached any more.
#pragma once

#include <exchange/core/book.hpp>

#include <algorithm>
#include <array>
#include <cstdint>

namespace exchange {

class stop_book {
public:
    /// Is there room for a stop with this trigger?
    [[nodiscard]] bool has_room(const book_memory& memory, order_side side,
                                price_ticks trigger) const noexcept {
        return of(side).has_room(memory.levels, rank_of(side, trigger));
    }

    /// Puts a stop last at its trigger. It `has_room`.
    void add(book_memory& memory, order_index index) noexcept {
        order& it = memory.orders[index];
        ladder& side = sides_[number(it.side)];
        it.level = side.open(memory.levels, rank_of(it.side, memory.advanced[index].trigger));
        price_level& level = memory.levels.chunks.level(it.level);
        it.next = 0;
        it.previous = level.last;
        if (level.last == 0) level.first = index;
        else memory.orders[level.last].next = index;
        level.last = index;
        ++level.orders;
        ++waiting_;
    }

    /// Takes a stop out. Its place in the slab stays taken.
    void remove(book_memory& memory, order_index index) noexcept {
        const order& it = memory.orders[index];
        price_level& level = memory.levels.chunks.level(it.level);
        if (it.previous == 0) level.first = it.next;
        else memory.orders[it.previous].next = it.next;
        if (it.next == 0) level.last = it.previous;
        else memory.orders[it.next].previous = it.previous;
        if (--level.orders == 0) sides_[number(it.side)].close(memory.levels, it.level);
        --waiting_;
    }

    [[nodiscard]] std::uint32_t waiting() const noexcept { return waiting_; }

    /// The market has traded at this price.
    void note(price_ticks price) noexcept {
        lowest_ = traded_ ? std::min(lowest_, price) : price;
        highest_ = traded_ ? std::max(highest_, price) : price;
        traded_ = true;
    }
    /// Was a price noted since the last `forget_trades`?
    [[nodiscard]] bool has_traded() const noexcept { return traded_; }
    void forget_trades() noexcept { traded_ = false; }

    /// Of those whose triggers were reached since then, the first: to buy before to sell, then by trigger as
    /// a moving price reaches them, then by time. None: no more.
    [[nodiscard]] order_index reached(const book_memory& memory) const noexcept {
        for (const order_side side : {order_side::buy, order_side::sell}) {
            const ladder& it = of(side);
            const price_ticks farthest = side == order_side::buy ? highest_ : lowest_;
            if (it.best() != 0 && it.best_rank() <= rank_of(side, farthest))
                return memory.levels.chunks.level(it.best()).first;
        }
        return 0;
    }

    /// By trigger; what is reached first is best.
    [[nodiscard]] const ladder& of(order_side side) const noexcept { return sides_[number(side)]; }

    /// Lower is reached sooner.
    [[nodiscard]] static constexpr price_rank rank_of(order_side side,
                                                      price_ticks trigger) noexcept {
        return side == order_side::buy ? trigger : -trigger;
    }

private:
    std::uint32_t waiting_ = 0;
    bool traded_ = false;
    price_ticks lowest_ = 0;  // Of the trades noted, as the next.
    price_ticks highest_ = 0;
    std::array<ladder, 2> sides_;
};

}  // namespace exchange
