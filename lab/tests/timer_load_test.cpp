// SPDX-License-Identifier: BSL-1.0
//
// Timers are compared fairly only if all contenders are given the same ones, spread as the case says.
#include <lab/kit/timer_load.hpp>

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

using namespace std::chrono_literals;

TEST_CASE("two generators give the same numbers") {
    lab::random_numbers first;
    lab::random_numbers second;

    for (int i = 0; i < 100; ++i) CHECK(first.below(1'000'000) == second.below(1'000'000));
}

TEST_CASE("numbers stay below their bound and reach every part of it") {
    lab::random_numbers random;
    std::array<int, 10> seen{};

    for (int i = 0; i < 10'000; ++i) ++seen.at(static_cast<std::size_t>(random.below(10)));

    for (const int count : seen) {
        CHECK(count > 800);
        CHECK(count < 1'200);
    }
}

TEST_CASE("delays lie between the shortest and the longest") {
    lab::random_numbers random;

    for (int i = 0; i < 1'000; ++i) {
        const auto delay = random.between(1ms, 3ms);
        CHECK(delay >= 1ms);
        CHECK(delay < 3ms);
        CHECK(random.between(7us, 7us) == 7us);
    }
}

TEST_CASE("timeouts are armed anew at first, and when a third of their time is over") {
    lab::freshness fresh;

    CHECK(fresh.is_over(1h));
    CHECK_FALSE(fresh.is_over(1h));
    CHECK(fresh.is_over(0ns));
}

TEST_CASE("lateness is counted from the deadline") {
    lab::histogram lateness;

    lab::record_lateness(lateness, std::chrono::steady_clock::now() - 1h);

    CHECK(lateness.count() == 1);
    CHECK(lateness.min() >= 3'600'000'000'000);
}
