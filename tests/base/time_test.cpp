// SPDX-License-Identifier: BSL-1.0
//
// What gyre/base/time.hpp promises. All of it can be said at compile time, overflow included: a
// constant expression that overflowed would not compile.
#include <gyre/base/time.hpp>

#include <doctest/doctest.h>

using namespace gyre;
using namespace std::chrono_literals;

namespace {

constexpr time_point start{1'000s};

}  // namespace

TEST_CASE("a deadline lies the given time after its start") {
    static_assert(deadline_after(start, 5ms) == start + 5ms);
    static_assert(deadline_after(time_point{}, 1ns) == time_point{1ns});

    CHECK(deadline_after(start, 5ms) - start == 5ms);
}

TEST_CASE("a wait of zero or less ends when it starts") {
    static_assert(deadline_after(start, 0s) == start);
    static_assert(deadline_after(start, -1s) == start);
    static_assert(deadline_after(start, duration::min()) == start);

    CHECK(deadline_after(never, -1s) == never);
}

TEST_CASE("a wait that would pass the end of time has no deadline") {
    static_assert(deadline_after(start, duration::max()) == never);
    static_assert(deadline_after(never, 1ns) == never);
    static_assert(deadline_after(never - 1ns, 1ns) == never);
    static_assert(deadline_after(never - 2ns, 1ns) == never - 1ns);

    CHECK(deadline_after(start, duration::max()) == never);
}

TEST_CASE("a start before the clock's beginning is as good as any other") {
    static_assert(deadline_after(time_point{-5s}, 7s) == time_point{2s});
    static_assert(deadline_after(time_point::min(), duration::max()) == time_point{-1ns});

    CHECK(deadline_after(time_point{-5s}, duration::max()) == never - 5s);
}

TEST_CASE("what is left of a deadline is the time until it, and none once it has passed") {
    static_assert(time_left(start + 5ms, start) == 5ms);
    static_assert(time_left(start, start) == 0s);
    static_assert(time_left(start - 1ns, start) == 0s);

    CHECK(time_left(never, start) == duration::max() - 1'000s);
}

TEST_CASE("what is left does not overflow, however far off the deadline or the present") {
    static_assert(time_left(time_point::min(), start) == 0s);
    static_assert(time_left(time_point::min() + 1h, never) == 0s);
    static_assert(time_left(never, time_point{}) == duration::max());
    static_assert(time_left(never, time_point{-1ns}) == duration::max());
    static_assert(time_left(never, time_point::min()) == duration::max());
    static_assert(time_left(never - 1ns, time_point{-1ns}) == duration::max());

    CHECK(time_left(time_point{-1s}, time_point::min()) == duration::max() - 1s + 1ns);
}
