// SPDX-License-Identifier: BSL-1.0
//
// What exchange/core/book.hpp promises: which order is first, what a level sums up to, and which
// would trade.
#include <exchange/core/book.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <vector>

using namespace exchange;

namespace {

struct small_book {
    std::unique_ptr<book_memory> memory =
        std::make_unique<book_memory>(book_memory{order_slab{64}, {chunk_pool{64}, node_pool{64}}});
    std::unique_ptr<book> orders = std::make_unique<book>();

    order_index add(order_side side, price_ticks price, contracts open) {
        const order_index index = memory->orders.take();
        memory->orders[index].side = side;
        memory->orders[index].price = price;
        memory->orders[index].open = open;
        orders->add(*memory, index);
        return index;
    }
    [[nodiscard]] const price_level& best(order_side side) const {
        return memory->levels.chunks.level(orders->best(side));
    }
    [[nodiscard]] std::vector<order_index> queue(order_side side) const {
        std::vector<order_index> found;
        for (order_index at = best(side).first; at != 0; at = memory->orders[at].next) {
            found.push_back(at);
        }
        return found;
    }
};

}  // namespace

TEST_CASE("the best bid is the highest, the best ask the lowest") {
    small_book it;
    it.add(order_side::buy, 99, 1);
    it.add(order_side::buy, 101, 2);
    it.add(order_side::sell, 110, 3);
    it.add(order_side::sell, 105, 4);

    CHECK(it.best(order_side::buy).quantity == 2);
    CHECK(it.best(order_side::sell).quantity == 4);
    CHECK(price_of(order_side::buy, it.orders->of(order_side::buy).best_rank()) == 101);
    CHECK(price_of(order_side::sell, it.orders->of(order_side::sell).best_rank()) == 105);
}

TEST_CASE("at one price the first to come is the first in the queue, from wherever others leave") {
    small_book it;
    std::vector<order_index> came;
    for (contracts each = 1; each <= 5; ++each) came.push_back(it.add(order_side::sell, 7, each));

    it.orders->remove(*it.memory, came[2]);
    CHECK(it.queue(order_side::sell) == std::vector{came[0], came[1], came[3], came[4]});
    it.orders->remove(*it.memory, came[0]);
    it.orders->remove(*it.memory, came[4]);

    CHECK(it.queue(order_side::sell) == std::vector{came[1], came[3]});
    CHECK(it.best(order_side::sell).quantity == 2 + 4);
    CHECK(it.best(order_side::sell).orders == 2);
}

TEST_CASE("less of an order is less of its level, and its place stays") {
    small_book it;
    const order_index first = it.add(order_side::buy, 7, 10);
    const order_index second = it.add(order_side::buy, 7, 10);

    book::reduce(*it.memory, first, 4);

    CHECK(it.best(order_side::buy).quantity == 16);
    CHECK(it.queue(order_side::buy) == std::vector{first, second});
}

TEST_CASE("an order crosses when its limit reaches the other side's best, and not before") {
    small_book it;
    CHECK_FALSE(it.orders->crosses(order_side::buy, price_ticks_max));
    it.add(order_side::sell, -5, 1);
    it.add(order_side::buy, -8, 1);

    CHECK(it.orders->crosses(order_side::buy, -5));
    CHECK_FALSE(it.orders->crosses(order_side::buy, -6));
    CHECK(it.orders->crosses(order_side::sell, -8));
    CHECK_FALSE(it.orders->crosses(order_side::sell, -7));
}

TEST_CASE("the sides may overlap, as they will before an auction") {
    small_book it;
    it.add(order_side::sell, 10, 1);
    it.add(order_side::buy, 12, 2);

    CHECK(it.best(order_side::sell).quantity == 1);
    CHECK(it.best(order_side::buy).quantity == 2);
}
