// SPDX-License-Identifier: BSL-1.0
//
// What exchange/codec/segment_pool.hpp promises: segments for all, and one for each in any case.
#include <exchange/codec/segment_pool.hpp>

#include <doctest/doctest.h>

#include <limits>
#include <vector>

using namespace exchange;

namespace {

constexpr segment_pool_options four{.bytes_max = 4 * 64, .segment_bytes = 64};

}  // namespace

TEST_CASE("segments lie apart, and the last one given back is the first to be taken") {
    segment_pool pool{four};
    pool.join();
    const segment_pool::number first = pool.take(0);
    const segment_pool::number second = pool.take(1);

    CHECK(pool.capacity() == 4);
    CHECK(pool.in_use() == 2);
    const auto apart = pool.bytes(second) - pool.bytes(first);
    CHECK((apart >= 64 || apart <= -64));
    pool.give_back(first, 1);
    CHECK(pool.take(1) == first);
}

TEST_CASE("a pool that is used up has nothing more, until a member gives something back") {
    segment_pool pool{four};
    pool.join();
    std::vector<segment_pool::number> taken;
    for (segment_pool::number it = pool.take(0); it != segment_pool::none;
         it = pool.take(taken.size()))
        taken.push_back(it);

    CHECK(taken.size() == 4);
    pool.give_back(taken.back(), 3);
    CHECK(pool.take(3) == taken.back());
    CHECK(pool.take(4) == segment_pool::none);
}

TEST_CASE("a member has two segments for sure, however many another one wants") {
    segment_pool pool{{.bytes_max = 5 * 64, .segment_bytes = 64}};
    pool.join();
    pool.join();
    CHECK_FALSE(pool.has_room());
    const segment_pool::number first = pool.take(0);
    static_cast<void>(pool.take(1));
    CHECK(pool.take(2) != segment_pool::none);
    CHECK(pool.take(3) == segment_pool::none);

    const segment_pool::number last = pool.take(0);
    CHECK(pool.take(1) != segment_pool::none);
    CHECK(pool.in_use() == 5);
    pool.give_back(last, 1);
    CHECK(pool.take(3) == segment_pool::none);  // It may want one again.
    pool.give_back(first, 2);
    CHECK(pool.take(2) == first);
}

TEST_CASE("a member that goes leaves its places to others") {
    segment_pool pool{four};
    pool.join();
    pool.join();
    CHECK_FALSE(pool.has_room());
    pool.leave();
    CHECK(pool.has_room());
    static_cast<void>(pool.take(0));
    static_cast<void>(pool.take(1));
    CHECK(pool.take(2) != segment_pool::none);
    CHECK_FALSE(pool.has_room());
}

TEST_CASE("a pool has as many whole segments as hold what was asked for, and two at least") {
    CHECK(segment_pool{{.bytes_max = 129, .segment_bytes = 64}}.capacity() == 3);
    CHECK(segment_pool{{.bytes_max = 0, .segment_bytes = 64}}.capacity() == 2);
}

TEST_CASE(
    "what a pool reserves is known before, and more than any machine has if it is no number") {
    CHECK(segment_pool::bytes_for(four) >= 4 * (64 + sizeof(segment_pool::number)));
    CHECK(segment_pool::bytes_for(four) <= 4 * (64 + sizeof(segment_pool::number)) + 128);
    constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
    CHECK(segment_pool::bytes_for({.bytes_max = most}) == most);
    CHECK(segment_pool::bytes_for({.bytes_max = most, .segment_bytes = 4}) == most);
}
