// SPDX-License-Identifier: BSL-1.0
#include <exchange/management/log_limit.hpp>

#include <doctest/doctest.h>

#include <chrono>

using exchange::log_limit;
using namespace std::chrono_literals;

TEST_CASE("log_limit: so many are told in a second, and the next one says how many were not") {
    log_limit limit{2};
    const log_limit::clock::time_point begun{1h};
    CHECK(limit.admit(begun) == 0);
    CHECK(limit.admit(begun + 1ms) == 0);
    for (int each = 0; each < 5; ++each) CHECK_FALSE(limit.admit(begun + 2ms).has_value());
    CHECK_FALSE(limit.admit(begun + 999ms).has_value());
    CHECK(limit.admit(begun + 1s) == 6);
    CHECK(limit.admit(begun + 1s) == 0);
    CHECK_FALSE(limit.admit(begun + 1s).has_value());
}

TEST_CASE("log_limit: what happens seldom is always told") {
    log_limit limit{1};
    log_limit::clock::time_point now{};
    for (int each = 0; each < 100; ++each) CHECK(limit.admit(now += 1s) == 0);
}
