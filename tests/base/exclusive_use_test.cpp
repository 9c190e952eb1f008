// SPDX-License-Identifier: BSL-1.0
//
// What gyre/base/exclusive_use.hpp promises: one use at a time, each of which ends.
#include <gyre/base/exclusive_use.hpp>

#include <base/ending.hpp>

#include <utility>

using namespace gyre;
using namespace gyre::testing;

TEST_CASE("uses follow each other, and end with what began them") {
    bool used = false;
    {
        exclusive_use first{used};
        CHECK_FALSE(used);
        first.begin("one at a time");
        CHECK(used);
        first.end();
        CHECK_FALSE(used);

        exclusive_use made{used};
        exclusive_use second{std::move(made)};
        second.begin("one at a time");
        first.end();
        CHECK(used);
    }
    CHECK_FALSE(used);
}

TEST_CASE("a second use at the same time is a failed check that names the rule") {
    const ending how = ending_of([] {
        bool used = false;
        exclusive_use first{used};
        exclusive_use second{used};
        first.begin("one at a time");
        second.begin("one at a time");
    });

    CHECK(how.signal == SIGABRT);
    CHECK(how.said_that("one at a time"));
}
