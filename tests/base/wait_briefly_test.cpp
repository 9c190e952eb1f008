// SPDX-License-Identifier: BSL-1.0
#include <gyre/base/wait_briefly.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <ctime>

namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

std::chrono::nanoseconds processor_time() {
    timespec spent{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
    return std::chrono::seconds{spent.tv_sec} + std::chrono::nanoseconds{spent.tv_nsec};
}

TEST_CASE("A short wait looks once when it is over already") {
    int looks = 0;
    gyre::wait_briefly([&looks] { return ++looks > 0; });
    CHECK(looks == 1);
}

// Giving way is no help against a thread of a lower real-time priority: that one needs the processor.
TEST_CASE("A short wait that lasts leaves the processor to others") {
    const auto over = steady_clock::now() + 50ms;
    const auto before = processor_time();
    gyre::wait_briefly([over] { return steady_clock::now() >= over; });
    CHECK(steady_clock::now() >= over);
    CHECK(processor_time() - before < 25ms);
}

}  // namespace
