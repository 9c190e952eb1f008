// SPDX-License-Identifier: BSL-1.0
//
// What exchange/bench/seam_facility.hpp promises, of Asio's pipelines: they are measured like ours.
#include <exchange/bench/measurement.hpp>
#include <exchange/bench/seam_facility.hpp>
#include <exchange/net/application/matching_facility.hpp>
#include <exchange/net/asio/callback/facility.hpp>
#include <exchange/net/asio/traits.hpp>

#include <doctest/doctest.h>

using namespace exchange;
using namespace exchange::bench;

namespace {

template <class Facility>
void check_plays(scenario_name which) {
    const cell played{which, book_state::empty, unbounded, 60, 6};
    CAPTURE(name_of(played));
    seam_facility<Facility, asio_loop, asio_loop_options> facility{
        {"asio", "Boost.Asio", "", ""}, {}, asio_loop_options{}};

    const cell_result result = measure(facility, played, {});

    REQUIRE(result.fault == "");
    CHECK(result.internal.count == 60);
    CHECK(result.internal.min > gyre::duration{});
    CHECK(result.counted.datagrams > 0);
}

}  // namespace

// A mass cancel comes in more packets than a turn carries out, so that it is written in several.
TEST_CASE("the pipeline of Asio's coroutines plays a trade and a mass cancel") {
    check_plays<matching_facility<asio_traits>>(scenario_name::trade);
    check_plays<matching_facility<asio_traits>>(scenario_name::mass_cancel);
}

TEST_CASE("the pipeline of Asio's completion handlers plays a trade and a mass cancel") {
    check_plays<callback_facility>(scenario_name::trade);
    check_plays<callback_facility>(scenario_name::mass_cancel);
}
