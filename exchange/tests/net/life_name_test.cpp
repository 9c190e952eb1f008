// SPDX-License-Identifier: BSL-1.0
//
// What exchange/net/application/life_name.hpp promises: names that sort, and never twice the same.
#include <exchange/net/application/life_name.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <string>

using namespace exchange;
using namespace std::chrono_literals;

namespace {

constexpr auto christmas = std::chrono::sys_days{2026y / 12 / 25};

std::string name_at(std::chrono::sys_time<std::chrono::nanoseconds> moment) {
    const auto since = static_cast<timestamp_ns>(moment.time_since_epoch().count());
    return std::string{life_name(since).view()};
}

}  // namespace

TEST_CASE("the name of a life is its day and four digits of the time of day") {
    CHECK(name_at(christmas) == "2612250000");
    CHECK(name_at(christmas + 12h) == "261225I000");
    CHECK(name_at(christmas + 24h - 1ns) == "261225ZZZZ");
    CHECK(name_at(std::chrono::sys_days{}) == "7001010000");
}

TEST_CASE("behind midnight, a month and a year, names go on in order") {
    CHECK(name_at(christmas + 24h) == "2612260000");
    CHECK(name_at(std::chrono::sys_days{2027y / 1 / 1} - 1ns) == "261231ZZZZ");
    CHECK(name_at(std::chrono::sys_days{2027y / 1 / 1}) == "2701010000");
}

TEST_CASE("a leap year has its day") {
    const auto last_of_february = std::chrono::sys_days{2028y / 2 / 28};
    CHECK(name_at(last_of_february + 24h) == "2802290000");
    CHECK(name_at(last_of_february + 48h) == "2803010000");
    CHECK(name_at(std::chrono::sys_days{2027y / 2 / 28} + 24h) == "2703010000");
}

TEST_CASE("two lives that begin 52 ms apart have different names, the later one the greater") {
    std::mt19937_64 dice{1};
    for (int round = 0; round < 10'000; ++round) {
        const auto moment =
            christmas + std::chrono::nanoseconds{dice() % (10ULL * 365 * 86'400) * 1'000'000'000} +
            std::chrono::nanoseconds{dice() % 1'000'000'000};
        const std::string name = name_at(moment);
        REQUIRE(name < name_at(moment + 52ms));
        REQUIRE(name <= name_at(moment + 1ns));
        REQUIRE(name.size() == 10);
        REQUIRE(std::ranges::all_of(name, [](char each) {
            return (each >= '0' && each <= '9') || (each >= 'A' && each <= 'Z');
        }));
    }
}

TEST_CASE("the moments of one name lie together and take less than 52 ms") {
    const std::string name = name_at(christmas + 1h);
    auto last = christmas + 1h + 0ns;
    while (name_at(last) == name) last += 1us;
    CHECK(last - (christmas + 1h) <= 52ms);
    CHECK(last - (christmas + 1h) > 51ms);
}
