// SPDX-License-Identifier: BSL-1.0
//
// What the lab's latency tables rest on: a histogram that is wrong by one bucket would shift every
// percentile of every contender, unnoticed.
#include <lab/kit/histogram.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace {

// The definition that the histogram approximates: sort, then count from the bottom.
std::uint64_t exact_quantile(std::vector<std::uint64_t> values, double part) {
    std::sort(values.begin(), values.end());
    const auto rank =
        static_cast<std::size_t>(std::ceil(part * static_cast<double>(values.size())));
    return values[std::max<std::size_t>(rank, 1) - 1];
}

double relative_error(std::uint64_t actual, std::uint64_t expected) {
    return std::abs(static_cast<double>(actual) - static_cast<double>(expected)) /
           static_cast<double>(expected);
}

}  // namespace

TEST_CASE("adding a histogram to another one is as if all had been recorded in one") {
    lab::histogram whole;
    std::array<lab::histogram, 2> parts;
    for (std::uint64_t value = 1; value < 100'000; value += 7) {
        whole.record(value);
        parts[value % 2].record(value);
    }

    lab::histogram sum;
    for (const lab::histogram& each : parts) sum.add(each);

    CHECK(sum.count() == whole.count());
    CHECK(sum.min() == whole.min());
    CHECK(sum.max() == whole.max());
    CHECK(sum.mean() == whole.mean());
    CHECK(sum.deviation() == doctest::Approx(whole.deviation()));
    CHECK(sum.quantile(0.5) == whole.quantile(0.5));
    CHECK(sum.quantile(0.99) == whole.quantile(0.99));
}

TEST_CASE("an empty histogram reports zeros") {
    const lab::histogram empty;

    CHECK(empty.count() == 0);
    CHECK(empty.min() == 0);
    CHECK(empty.max() == 0);
    CHECK(empty.mean() == 0.0);
    CHECK(empty.deviation() == 0.0);
    CHECK(empty.quantile(0.5) == 0);
}

TEST_CASE("values below 256 are kept exactly") {
    for (std::uint64_t value = 0; value < 256; ++value) {
        lab::histogram single;
        single.record(value);
        single.record(1'000'000);  // Keeps clamping to the maximum from hiding a wrong bucket.

        CHECK(single.quantile(0.5) == value);
    }
}

TEST_CASE("count, mean, minimum and maximum are exact") {
    lab::histogram three;
    three.record(1'000'003);
    three.record(7);
    three.record(2'000'000);

    CHECK(three.count() == 3);
    CHECK(three.min() == 7);
    CHECK(three.max() == 2'000'000);
    CHECK(three.mean() == doctest::Approx(3'000'010.0 / 3.0));
}

TEST_CASE("the standard deviation is that of all values, wherever they lie") {
    lab::histogram values;
    for (const std::uint64_t each : {2, 4, 4, 4, 5, 5, 7, 9}) values.record(1'000'000 + each);
    CHECK(values.deviation() == doctest::Approx(2.0).epsilon(0.001));

    lab::histogram same;
    for (int i = 0; i < 1'000; ++i) same.record(123'456'789);
    CHECK(same.deviation() < 10);  // Rounding, at most.
}

TEST_CASE("quantiles never leave the recorded range") {
    lab::histogram one;
    one.record(1'000'001);

    CHECK(one.quantile(0.0) == 1'000'001);
    CHECK(one.quantile(0.5) == 1'000'001);
    CHECK(one.quantile(1.0) == 1'000'001);
}

TEST_CASE("a quantile of spread-out values is at most 1/256 off") {
    constexpr std::uint64_t seed = 20'110;
    CAPTURE(seed);
    std::mt19937_64 random{seed};
    std::lognormal_distribution<double> latency{9.0, 2.0};

    lab::histogram approximate;
    std::vector<std::uint64_t> values;
    for (int i = 0; i < 100'000; ++i) {
        const auto value = static_cast<std::uint64_t>(latency(random)) + 1;
        approximate.record(value);
        values.push_back(value);
    }

    for (const double part : {0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 0.9999}) {
        CAPTURE(part);
        const std::uint64_t expected = exact_quantile(values, part);
        CHECK(relative_error(approximate.quantile(part), expected) <= 1.0 / 256);
    }
}

TEST_CASE("a quantile is known when five values lie beyond it") {
    lab::histogram values;
    CHECK_FALSE(values.known_quantile(0.5).has_value());
    for (std::uint64_t value = 1; value < 5'000; ++value) values.record(value);

    CHECK_FALSE(values.known_quantile(0.999).has_value());
    CHECK(values.known_quantile(0.99) == values.quantile(0.99));

    values.record(5'000);
    CHECK(values.known_quantile(0.999) == values.quantile(0.999));
    CHECK_FALSE(values.known_quantile(0.9999).has_value());
}

TEST_CASE("each power of two and its neighbours is at most 1/256 off") {
    for (int bit = 1; bit < 64; ++bit) {
        for (const std::uint64_t value : {(std::uint64_t{1} << bit) - 1, std::uint64_t{1} << bit,
                                          (std::uint64_t{1} << bit) + 1}) {
            CAPTURE(value);
            lab::histogram pair;
            pair.record(value);
            pair.record(UINT64_MAX);

            CHECK(relative_error(pair.quantile(0.5), value) <= 1.0 / 256);
        }
    }
}

TEST_CASE("buckets hold every value, and the same values again make the same buckets") {
    lab::histogram first;
    for (const std::uint64_t value : {3u, 3u, 1'000u, 5'000'000u}) first.record(value);

    lab::histogram second;
    first.for_each_bucket([&](std::uint64_t value, std::uint64_t count) {
        for (; count > 0; --count) second.record(value);
    });

    CHECK(second.count() == 4);
    CHECK(second.quantile(0.5) == first.quantile(0.5));
    std::uint64_t same = 0;
    second.for_each_bucket([&](std::uint64_t, std::uint64_t count) { same += count; });
    CHECK(same == 4);
}
