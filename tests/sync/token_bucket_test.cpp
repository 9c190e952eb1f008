// SPDX-License-Identifier: BSL-1.0
//
// What gyre/sync/token_bucket.hpp promises to the code that uses it.
#include <gyre/sync/token_bucket.hpp>

#include <support/harness.hpp>

using namespace gyre;
using namespace std::chrono_literals;

TEST_CASE("a bucket begins full, and is refilled up to its burst at its rate") {
    const token_rate rate{{10, 1s, 3}};
    const time_point start{1h};
    token_bucket it{rate, start};

    CHECK(it.full(rate));
    CHECK(it.take(rate, start, 3));
    CHECK_FALSE(it.take(rate, start, 1));
    CHECK(it.ready_at(rate, 1) == start + 100ms);
    CHECK_FALSE(it.take(rate, start + 99ms, 1));
    CHECK(it.take(rate, start + 100ms, 1));
    it.refill(rate, start + 1h);
    CHECK(it.available(rate) == 3);
    CHECK(it.full(rate));
}

TEST_CASE("no fraction of a token is lost between many looks") {
    const token_rate rate{{3, 7s, 1}};
    const time_point start{1h};
    token_bucket it{rate, start};
    CHECK(it.take(rate, start, 1));
    int taken = 0;
    for (duration passed{}; passed < 1400s; passed += 1ms) {
        if (it.take(rate, start + passed, 1)) ++taken;
    }
    CHECK(taken >= 599);
    CHECK(taken <= 600);
}
