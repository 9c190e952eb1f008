// SPDX-License-Identifier: BSL-1.0
//
// What exchange/core/stop_book.hpp promises: the stops that a trade reaches, in one order.
#include <exchange/core/stop_book.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <vector>

using namespace exchange;

namespace {

using indices = std::vector<order_index>;

struct waiting_room {
    std::unique_ptr<book_memory> memory = std::make_unique<book_memory>(
        book_memory{order_slab{16}, {chunk_pool{8}, node_pool{32}}, advanced_table{16}});
    std::unique_ptr<stop_book> stops = std::make_unique<stop_book>();

    order_index add(order_side side, price_ticks trigger) {
        const order_index made = memory->orders.take();
        order& it = memory->orders[made];
        it.side = side;
        it.open = 1;
        it.advanced = true;
        memory->advanced[made].trigger = trigger;
        CHECK(stops->has_room(*memory, side, trigger));
        stops->add(*memory, made);
        return made;
    }
    void remove(order_index gone) {
        stops->remove(*memory, gone);
        memory->orders.give_back(gone);
    }
    /// Takes out, one after the other, all that are reached.
    indices take_reached() {
        indices found;
        while (const order_index next = stops->reached(*memory)) {
            found.push_back(next);
            remove(next);
        }
        return found;
    }
};

}  // namespace

TEST_CASE(
    "a rising price reaches stops to buy from the lowest on, at a trigger the first to come") {
    waiting_room it;
    const order_index high = it.add(order_side::buy, 110);
    const order_index first = it.add(order_side::buy, 105);
    const order_index second = it.add(order_side::buy, 105);
    const order_index low = it.add(order_side::buy, 101);
    CHECK(it.stops->waiting() == 4);

    it.stops->note(105);
    CHECK(it.take_reached() == indices{low, first, second});
    CHECK(it.stops->waiting() == 1);
    it.stops->note(110);
    CHECK(it.take_reached() == indices{high});
}

TEST_CASE("a falling price reaches stops to sell from the highest on") {
    waiting_room it;
    const order_index low = it.add(order_side::sell, -5);
    const order_index high = it.add(order_side::sell, 3);

    it.stops->note(4);
    CHECK(it.take_reached().empty());
    it.stops->note(-5);
    CHECK(it.take_reached() == indices{high, low});
}

TEST_CASE(
    "the highest and the lowest price count, whatever came in between, until they are forgotten") {
    waiting_room it;
    const order_index sold = it.add(order_side::sell, 98);
    const order_index bought = it.add(order_side::buy, 102);
    CHECK_FALSE(it.stops->has_traded());
    for (const price_ticks each : {100, 102, 98, 100}) it.stops->note(each);
    CHECK(it.stops->has_traded());
    CHECK(it.take_reached() == indices{bought, sold});

    it.stops->forget_trades();
    CHECK_FALSE(it.stops->has_traded());
    const order_index next = it.add(order_side::buy, 101);
    it.stops->note(100);
    CHECK(it.take_reached().empty());
    it.stops->note(101);
    CHECK(it.take_reached() == indices{next});
}

TEST_CASE("one that is taken out is not reached, and its level is given back") {
    waiting_room it;
    const order_index gone = it.add(order_side::buy, 105);
    const order_index stays = it.add(order_side::buy, 105);
    it.remove(gone);
    it.stops->note(105);
    CHECK(it.take_reached() == indices{stays});
    CHECK(it.stops->waiting() == 0);
    CHECK(it.memory->levels.chunks.in_use() == 0);
}

TEST_CASE("there is room where there is a level, or memory for one") {
    waiting_room it;
    for (int each = 0; each < 8; ++each) it.add(order_side::buy, 64 * each);
    CHECK_FALSE(it.stops->has_room(*it.memory, order_side::buy, 64 * 8));
    CHECK(it.stops->has_room(*it.memory, order_side::buy, 64 * 7 + 1));
    CHECK_FALSE(it.stops->has_room(*it.memory, order_side::sell, 64 * 7 + 1));
}
