// SPDX-License-Identifier: BSL-1.0
//
// What exchange/bench/core_gaps.hpp promises, on gaps that are made up.
#include <exchange/bench/core_gaps.hpp>

#include <doctest/doctest.h>

#include <vector>

using namespace exchange::bench;
using namespace std::chrono_literals;
using gyre::duration;

namespace {

constexpr gyre::time_point start{1s};

core_gap gap(duration begin, duration end, duration ours = {}) {
    return {start + begin, start + end, ours};
}
delayed_message message(duration due, duration complete) { return {start + due, start + complete}; }

constexpr std::vector<core_gap> no_gaps;

}  // namespace

TEST_CASE("the floor counts gaps by their length, without what is measured") {
    const std::vector gaps{gap(0us, 9us), gap(10us, 30us), gap(40us, 240us, 150us),
                           gap(300us, 500us), gap(1000us, 3000us)};

    const noise_floor floor = floor_of(gaps, 2s);

    CHECK(floor.above_10us == doctest::Approx(4 / 2.0));
    CHECK(floor.above_100us == doctest::Approx(2 / 2.0));
    CHECK(floor.above_1ms == doctest::Approx(1 / 2.0));
    CHECK(floor.longest == 2000us);
    CHECK(floor.lost == doctest::Approx((9 + 20 + 50 + 200 + 2000) * 1e-6 / 2));
}

TEST_CASE("more processor time of ours than the gap is long leaves nothing to the host") {
    CHECK(gap(0us, 10us, 12us).foreign() == 0us);
    CHECK(gap(0us, 10us, -2us).foreign() == 10us);
    CHECK(floor_of(std::vector{gap(0us, 100us, 120us)}, 1s).longest == 0us);
}

TEST_CASE("a message whose core was away for half of its delay was delayed by the host") {
    const explained_delay told =
        explain(message(0us, 120us), 20us, std::vector{gap(30us, 80us)}, no_gaps);

    CHECK(told.cause == delay_cause::host);
    CHECK(told.host == 50us);
    CHECK(told.turn == 0us);
}

TEST_CASE("only the part of a gap that a message shares with it explains its delay") {
    const std::vector before{gap(-500us, 40us)};
    const std::vector behind{gap(80us, 900us)};

    CHECK(explain(message(0us, 120us), 20us, before, no_gaps).host == 40us);
    CHECK(explain(message(0us, 120us), 20us, before, no_gaps).cause == delay_cause::kernel);
    CHECK(explain(message(0us, 120us), 20us, behind, no_gaps).host == 40us);
    CHECK(
        explain(message(0us, 120us), 20us, std::vector{gap(-50us, 0us), gap(120us, 190us)}, no_gaps)
            .host == 0us);
}

TEST_CASE("a message during which what is measured ran was delayed by a turn of its loop") {
    const explained_delay told =
        explain(message(0us, 120us), 20us, std::vector{gap(10us, 110us, 90us)}, no_gaps);

    CHECK(told.cause == delay_cause::turn);
    CHECK(told.turn == 90us);
    CHECK(told.host == 10us);
}

TEST_CASE("a message during which no core was away was delayed in the kernel") {
    const explained_delay told =
        explain(message(0us, 120us), 20us, std::vector{gap(10us, 12us, 2us)}, no_gaps);

    CHECK(told.cause == delay_cause::kernel);
    CHECK(told.turn == 2us);
}

TEST_CASE("a load that stood still is the host's fault, and both cores at once count once") {
    const std::vector stood{gap(10us, 90us)};

    CHECK(explain(message(0us, 120us), 20us, no_gaps, stood).cause == delay_cause::host);
    CHECK(explain(message(0us, 120us), 20us, stood, stood).host == 80us);
}

TEST_CASE("of messages that were under way together the longest is told, the longest first") {
    const std::vector messages{message(0us, 50us), message(10us, 200us), message(20us, 190us),
                               message(300us, 330us), message(400us, 700us)};
    const std::vector gaps{gap(20us, 180us), gap(400us, 700us, 300us)};

    const auto told = worst_delays(messages, 20us, 3, gaps, no_gaps);

    REQUIRE(told.size() == 3);
    CHECK(told[0].message.due == start + 400us);
    CHECK(told[0].cause == delay_cause::turn);
    CHECK(told[1].message.due == start + 10us);
    CHECK(told[1].cause == delay_cause::host);
    CHECK(told[2].message.due == start + 300us);
    CHECK(told[2].cause == delay_cause::kernel);
    CHECK(worst_delays(messages, 20us, 1, gaps, no_gaps).size() == 1);
    CHECK(worst_delays({}, 20us, 3, gaps, no_gaps).empty());
}
