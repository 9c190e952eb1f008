// SPDX-License-Identifier: BSL-1.0
//
// What exchange/bench/arrival_schedule.hpp promises: moments that nothing that happens can move.
#include <exchange/bench/arrival_schedule.hpp>

#include <doctest/doctest.h>

using namespace exchange::bench;
using namespace std::chrono_literals;

namespace {

const gyre::time_point start{1h};

}  // namespace

TEST_CASE("events are due at equal distances, and what precedes them half a period earlier") {
    const arrival_schedule schedule{start, 1'000};

    CHECK(schedule.due(0) == start);
    CHECK(schedule.due(7) == start + 7ms);
    CHECK(schedule.before_due(7) == start + 6'500us);
    CHECK(schedule.before_due(0) == start - 500us);
}

TEST_CASE("a period that is no whole number of nanoseconds adds up to no error") {
    const arrival_schedule schedule{start, 3};

    CHECK(schedule.due(1) == start + 333'333'333ns);
    CHECK(schedule.due(3) == start + 1s);
    CHECK(schedule.due(3'000'000'000) == start + 1'000'000'000s);
}

TEST_CASE("without a rate everything is due at once") {
    const arrival_schedule schedule{start, 0};

    CHECK_FALSE(schedule.bounded());
    CHECK(schedule.due(1'000'000) == start);
    CHECK(schedule.before_due(0) == start);
}
