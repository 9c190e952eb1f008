// SPDX-License-Identifier: BSL-1.0
#include <exchange/management/latency_histogram.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

using namespace exchange;

TEST_CASE("latency_histogram: buckets follow each other without a gap, an eighth wide at most") {
    using it = latency_histogram;
    std::uint64_t next = 0;
    for (std::size_t each = 0; each < it::buckets; ++each) {
        const std::uint64_t last = it::last_of(each);
        REQUIRE(last >= next);
        REQUIRE(it::bucket_of(next) == each);
        REQUIRE(it::bucket_of(last) == each);
        REQUIRE((last - next) * 8 <= next + 8);
        next = last + 1;
    }
    CHECK(next == std::uint64_t{1} << it::powers_max);
}

TEST_CASE("latency_histogram: quantiles are those of the values, to within an eighth") {
    const auto seed = std::random_device{}();
    CAPTURE(seed);
    std::mt19937_64 dice{seed};
    std::lognormal_distribution<double> spread{10, 2};
    latency_histogram counted;
    std::vector<std::uint64_t> all;
    for (int each = 0; each < 20'000; ++each) {
        const auto ns = static_cast<std::uint64_t>(spread(dice));
        all.push_back(std::min(ns, (std::uint64_t{1} << latency_histogram::powers_max) - 1));
        counted.record_ns(ns);
    }
    std::ranges::sort(all);
    CHECK(counted.count() == all.size());
    CHECK(counted.least_ns() == all.front());
    CHECK(counted.most_ns() == all.back());
    for (const double share : {0.0, 0.1, 0.5, 0.9, 0.99, 0.999, 1.0}) {
        CAPTURE(share);
        const auto rank = static_cast<std::size_t>(std::ceil(share * 20'000.0));
        const std::uint64_t exact = all[std::max<std::size_t>(rank, 1) - 1];
        CHECK(counted.quantile_ns(share) >= exact);
        CHECK(counted.quantile_ns(share) * 8 <= exact * 9 + 8);
    }
}

TEST_CASE("latency_histogram: nothing, less than nothing, and more than there is room for") {
    latency_histogram counted;
    CHECK(counted.quantile_ns(0.5) == 0);
    CHECK(counted.least_ns() == 0);
    counted.record(gyre::duration{-5});
    CHECK(counted.most_ns() == 0);
    counted.record(std::chrono::hours{10});
    CHECK(counted.count() == 2);
    CHECK(counted.most_ns() == (std::uint64_t{1} << 40) - 1);
    std::uint64_t told = 0;
    counted.for_each([&told](std::uint64_t, std::uint64_t count) { told += count; });
    CHECK(told == 2);
}
