// SPDX-License-Identifier: BSL-1.0
//
// What exchange/core/slab.hpp promises: an id means one order, once and never another.
#include <exchange/core/slab.hpp>

#include <doctest/doctest.h>

#include <vector>

using namespace exchange;

namespace {

order_index take_open(order_slab& slab) {
    const order_index taken = slab.take();
    slab[taken].open = 1;
    return taken;
}

}  // namespace

TEST_CASE("a place that is given back is the next to be taken, under another id") {
    order_slab slab{4};
    const order_index first = take_open(slab);
    const order_id old = slab[first].id;

    slab.give_back(first);
    const order_index second = take_open(slab);

    CHECK(second == first);
    CHECK(slab[second].id != old);
    CHECK(slab.find(old) == 0);
    CHECK(slab.find(slab[second].id) == second);
}

TEST_CASE("the id that a free place will have next finds no order yet") {
    order_slab slab{4};
    const order_index taken = take_open(slab);
    const order_id next{number(slab[taken].id) + (std::uint64_t{1} << order_index_bits)};

    slab.give_back(taken);

    CHECK(slab.find(next) == 0);
    CHECK(take_open(slab) == taken);
    CHECK(slab.find(next) == taken);
}

TEST_CASE("a place that had every generation is given up, so that no id comes twice") {
    order_slab slab{2, 0, order_slab::generations - 2};
    const order_index first = take_open(slab);
    const order_id before = slab[first].id;
    slab.give_back(first);
    CHECK(take_open(slab) == first);
    const order_id last = slab[first].id;
    CHECK(number(last) > number(before));

    slab.give_back(first);

    CHECK(slab.find(last) == 0);
    CHECK(slab.has(1));
    CHECK_FALSE(slab.has(2));
    CHECK(take_open(slab) != first);
    CHECK_FALSE(slab.has(1));
}

TEST_CASE("slabs of two partitions never give the same id, and find none of each other") {
    order_slab one{4, 1}, other{4, 15};
    const order_index at = take_open(one);
    CHECK(take_open(other) == at);

    CHECK(partition_of(one[at].id) == 1);
    CHECK(partition_of(other[at].id) == 15);
    CHECK(one.find(other[at].id) == 0);
    CHECK(one.find(one[at].id) == at);
}

TEST_CASE("ids that were never given out find no order") {
    order_slab slab{4};
    static_cast<void>(take_open(slab));

    CHECK(slab.find(order_id::none) == 0);
    CHECK(slab.find(order_id{4}) == 0);
    CHECK(slab.find(order_id{~std::uint64_t{0}}) == 0);
    CHECK(slab.find(order_id{(std::uint64_t{1} << order_index_bits) | 5}) == 0);
}

TEST_CASE("a slab holds as many orders as it was made for, and knows when it is full") {
    order_slab slab{3};
    std::vector<order_index> taken;
    while (slab.has(1)) taken.push_back(take_open(slab));

    CHECK(taken == std::vector<order_index>{1, 2, 3});
    CHECK(slab.in_use() == 3);
    slab.give_back(2);
    CHECK(slab.has(1));
    CHECK_FALSE(slab.has(2));
}

TEST_CASE("a place gets its first id when it is taken for the first time") {
    order_slab slab{2};
    CHECK(slab[1].id == order_id::none);
    CHECK(slab.find(order_id{(std::uint64_t{1} << order_index_bits) | 1}) == 0);

    const order_index first = take_open(slab);
    CHECK(slab[first].id == order_id{(std::uint64_t{1} << order_index_bits) | first});
    slab.give_back(first);
    static_cast<void>(take_open(slab));
    CHECK(slab[take_open(slab)].id == order_id{(std::uint64_t{1} << order_index_bits) | 2});
}
