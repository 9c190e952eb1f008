// SPDX-License-Identifier: BSL-1.0
//
// What exchange/bench/latency_summary.hpp promises: quantiles that are values that were measured.
#include <exchange/bench/latency_summary.hpp>

#include <doctest/doctest.h>

#include <chrono>

using namespace exchange::bench;
using namespace std::chrono_literals;

TEST_CASE("of a thousand values the quantiles are those at their places") {
    std::vector<gyre::duration> values;
    for (int each = 1000; each >= 1; --each) values.push_back(each * 1us);

    const latency_summary summary = summarise(std::move(values));

    CHECK(summary.count == 1000);
    CHECK(summary.min == 1us);
    CHECK(summary.max == 1000us);
    CHECK(summary.mean_ns == 500'500);
    CHECK(summary.p50 == 500us);
    CHECK(summary.p95 == 950us);
    CHECK(summary.p99 == 990us);
    CHECK(summary.p99_9 == 999us);
    CHECK(summary.p99_99 == 1000us);
}

TEST_CASE("a quantile is known when five values lie beyond it") {
    const auto knows = [](std::size_t count, double part) {
        return summarise(std::vector<gyre::duration>(count, 1us)).knows(part);
    };
    CHECK_FALSE(knows(4'999, 0.999));
    CHECK(knows(5'000, 0.999));
    CHECK_FALSE(knows(49'999, 0.9999));
    CHECK(knows(50'000, 0.9999));
    CHECK(knows(100, 0.95));
}

TEST_CASE("one value is every quantile, and no value is none") {
    CHECK(summarise({7us}).p50 == 7us);
    CHECK(summarise({7us}).p99_99 == 7us);
    CHECK(summarise({}).count == 0);
}
