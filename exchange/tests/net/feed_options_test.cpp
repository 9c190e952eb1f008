// SPDX-License-Identifier: BSL-1.0
//
// How many answers exchange/net/transport/feed_options.hpp allows within how long. feed_laws.hpp has what a
// publisher makes of it.
#include <exchange/net/transport/feed_options.hpp>

#include <doctest/doctest.h>

using namespace exchange;
using namespace std::chrono_literals;

TEST_CASE("answers are allowed up to the limit, and again when its time has passed") {
    answer_allowance it{{.answers_max = 2, .within = 50ms}};
    const gyre::time_point start{1h};

    CHECK(it.take(start));
    CHECK(it.take(start + 49ms));
    CHECK_FALSE(it.take(start + 49ms));
    CHECK(it.take(start + 50ms));
    CHECK(it.take(start + 99ms));
    CHECK_FALSE(it.take(start + 99ms));
    CHECK(it.take(start + 1h));
    CHECK(it.take(start + 1h));
    CHECK_FALSE(it.take(start + 1h));
}
