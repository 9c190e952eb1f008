// SPDX-License-Identifier: BSL-1.0
//
// What exchange/core/chunk_pool.hpp promises: chunks come empty, and ranks are cut into them evenly.
#include <exchange/core/chunk_pool.hpp>

#include <doctest/doctest.h>

using namespace exchange;

TEST_CASE("ranks below zero are cut into chunks like those above") {
    CHECK(chunk_of(0) == 0);
    CHECK(chunk_of(63) == 0);
    CHECK(chunk_of(64) == 1);
    CHECK(chunk_of(-1) == -1);
    CHECK(slot_of(-1) == 63);
    CHECK(chunk_of(-64) == -1);
    CHECK(slot_of(-64) == 0);
    CHECK(chunk_of(-65) == -2);
}

TEST_CASE("chunks are used again, the last one first, and the pool ends") {
    chunk_pool pool{2};
    const chunk_index first = pool.take(7);
    const chunk_index second = pool.take(-9);
    CHECK_FALSE(pool.has(1));

    pool.give_back(first);
    pool.give_back(second);

    CHECK(pool.take(1) == second);
    CHECK(pool.take(2) == first);
    CHECK(pool[second].number == 1);
    CHECK(pool[first].number == 2);
    CHECK(pool.in_use() == 2);
}
