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
    const segment_pool::number first = pool.take_first();
    const segment_pool::number second = pool.take_more();

    CHECK(pool.capacity() == 4);
    CHECK(pool.in_use() == 2);
    const auto apart = pool.bytes(second) - pool.bytes(first);
    CHECK((apart >= 64 || apart <= -64));
    pool.give_back(first);
    CHECK(pool.take_more() == first);
}

TEST_CASE("a pool that is used up has nothing more, until somebody gives something back") {
    segment_pool pool{four};
    pool.join();
    std::vector<segment_pool::number> taken{pool.take_first()};
    for (segment_pool::number it = pool.take_more(); it != segment_pool::none;
         it = pool.take_more())
        taken.push_back(it);

    CHECK(taken.size() == 4);
    pool.give_back(taken.back());
    CHECK(pool.take_more() == taken.back());
    CHECK(pool.take_more() == segment_pool::none);
}

TEST_CASE("a member without a segment has one for sure, however many another one wants") {
    segment_pool pool{four};
    pool.join();
    pool.join();
    pool.join();
    static_cast<void>(pool.take_first());
    CHECK(pool.take_more() != segment_pool::none);
    CHECK(pool.take_more() == segment_pool::none);

    const segment_pool::number last = pool.take_first();
    CHECK(pool.take_first() != segment_pool::none);
    CHECK(pool.in_use() == 4);
    pool.give_back_last(last);
    CHECK(pool.take_more() == segment_pool::none);  // It may want one again.
    pool.leave();
    CHECK(pool.take_more() == last);
}

TEST_CASE("a pool has as many whole segments as hold what was asked for, and one at least") {
    CHECK(segment_pool{{.bytes_max = 65, .segment_bytes = 64}}.capacity() == 2);
    CHECK(segment_pool{{.bytes_max = 0, .segment_bytes = 64}}.capacity() == 1);
}

TEST_CASE(
    "what a pool reserves is known before, and more than any machine has if it is no number") {
    CHECK(segment_pool::bytes_for(four) >= 4 * (64 + sizeof(segment_pool::number)));
    CHECK(segment_pool::bytes_for(four) <= 4 * (64 + sizeof(segment_pool::number)) + 128);
    constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
    CHECK(segment_pool::bytes_for({.bytes_max = most}) == most);
    CHECK(segment_pool::bytes_for({.bytes_max = most, .segment_bytes = 4}) == most);
}
