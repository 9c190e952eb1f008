// SPDX-License-Identifier: BSL-1.0
//
// What exchange/net/application/sequencer_clock.hpp promises: when the machine's clock is set, time
// goes on.
#include <exchange/net/application/sequencer_clock.hpp>

#include <doctest/doctest.h>

using namespace exchange;

namespace {

constexpr timestamp_ns second = 1'000'000'000;
constexpr timestamp_ns hour = 3'600 * second;

struct dials {
    static inline timestamp_ns wall = 0;
    static inline timestamp_ns steady = 0;

    static time_sources sources() {
        wall = 500'000 * hour;
        steady = 7 * second;
        return {.wall = []() noexcept { return wall; }, .steady = []() noexcept { return steady; }};
    }
};

}  // namespace

TEST_CASE("it begins at the machine's time and moves as the steady clock does") {
    const sequencer_clock clock{dials::sources()};
    CHECK(clock.now() == 500'000 * hour);

    dials::wall += 3 * second;
    dials::steady += 3 * second;

    CHECK(clock.now() == 500'000 * hour + 3 * second);
}

TEST_CASE("a machine's clock that is set back an hour neither stops it nor takes it back") {
    const sequencer_clock clock{dials::sources()};

    dials::wall -= hour;
    dials::steady += second;

    CHECK(clock.now() == 500'000 * hour + second);
}

TEST_CASE("a machine's clock that is set ahead an hour does not take it along") {
    const sequencer_clock clock{dials::sources()};

    dials::wall += hour;
    dials::steady += second;

    CHECK(clock.now() == 500'000 * hour + second);
}

TEST_CASE("the clocks of the machine itself move forward, and one of them knows the year") {
    constexpr timestamp_ns year_2020 = 1'577'836'800 * second;
    const timestamp_ns before = steady_time();

    CHECK(sequencer_clock{time_sources{}}.now() > year_2020);
    CHECK(steady_time() >= before);
}
