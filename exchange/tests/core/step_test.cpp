// SPDX-License-Identifier: BSL-1.0
//
// What exchange/core/step.hpp promises: a step ends when its work is done, and does something in any case.
#include <exchange/core/step.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>

using namespace exchange;

TEST_CASE("work that is spent ends the step, and the next one has as much again") {
    step_work it{12};
    for (int step = 0; step < 3; ++step) {
        it.begin();
        CHECK_FALSE(it.spent());
        it.spend(work_of_fill);
        CHECK_FALSE(it.spent());
        it.spend(work_of_cancel);
        CHECK(it.spent());
    }
}

TEST_CASE("the largest piece of work in the smallest step is done, and not carried over") {
    step_work it{1};
    it.begin();
    CHECK_FALSE(it.spent());
    it.spend(std::numeric_limits<std::uint32_t>::max());
    CHECK(it.spent());
    it.begin();
    CHECK_FALSE(it.spent());
}
