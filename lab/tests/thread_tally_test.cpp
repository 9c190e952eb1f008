// SPDX-License-Identifier: BSL-1.0
//
// The rows of several threads end when everything has been counted, so nothing may be lost or counted
// twice.
#include <lab/kit/thread_tally.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <thread>
#include <vector>

TEST_CASE("what several threads add at once is all there when they have ended") {
    constexpr std::uint64_t each_adds = 100'000;
    lab::thread_tally tally;

    std::vector<std::thread> threads;
    for (int number = 0; number < 4; ++number) {
        threads.emplace_back([&tally] {
            for (std::uint64_t i = 0; i < each_adds; ++i) tally.add();
        });
    }
    for (std::thread& each : threads) each.join();

    CHECK(tally.sum() == 4 * each_adds);
}

TEST_CASE("a thread that adds to two tallies adds to each") {
    lab::thread_tally first;
    lab::thread_tally second;

    first.add();
    second.add();
    second.add();

    CHECK(first.sum() == 1);
    CHECK(second.sum() == 2);
}

TEST_CASE("the tally of one thread counts as that of several does") {
    lab::tally one;

    one.add();
    one.add();

    CHECK(one.sum() == 2);
}
