// SPDX-License-Identifier: BSL-1.0
//
// Slices on threads begin and end with these, so each thread must work once in each, and none early.
#include <lab/kit/crew.hpp>

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cstddef>

TEST_CASE("each thread does its job once whenever it is told to, and not before") {
    std::array<std::atomic<int>, 3> done{};
    lab::crew all{done.size(), [&](std::size_t number) { ++done[number]; }};
    for (const auto& each : done) CHECK(each == 0);

    for (int round = 1; round <= 100; ++round) {
        all.go();
        all.wait();
        for (const auto& each : done) CHECK(each == round);
    }
}

TEST_CASE("a crew of no threads has nothing to wait for") {
    lab::crew none{0, [](std::size_t) {}};

    none.go();
    none.wait();
}

TEST_CASE("a crew that was never told to work can be sent home") {
    std::atomic<int> done = 0;

    {
        const lab::crew idle{2, [&](std::size_t) { ++done; }};
    }

    CHECK(done == 0);
}
