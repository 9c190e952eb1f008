// SPDX-License-Identifier: BSL-1.0
//
// What exchange/bench/seam_facility.hpp promises: a pipeline of the seam can be measured like any other.
#include <exchange/bench/seam_facility.hpp>

#include <exchange/bench/measurement.hpp>
#include <exchange/net/application/matching_facility.hpp>
#include <exchange/net/gyre/traits.hpp>

#include <doctest/doctest.h>

using namespace exchange;
using namespace exchange::bench;

namespace {

using pipeline =
    seam_facility<matching_facility<gyre_traits>, gyre::io_context, gyre::io_context_options>;

pipeline on(gyre::backend_choice backend) {
    gyre::io_context_options options;
    options.backend = backend;
    return {{"gyre", "gyre", "", ""}, {}, options};
}

void check_plays(gyre::backend_choice backend, scenario_name which, feed_transport by) {
    const cell played{which, book_state::empty, unbounded, 60, 6};
    CAPTURE(name_of(played));
    pipeline facility = on(backend);

    const cell_result result = measure(facility, played, {.feed = by});

    REQUIRE(result.fault == "");
    CHECK(result.internal.count == 60);
    CHECK(result.internal.min > gyre::duration{});
    CHECK(result.wire.min >=
          result.internal.min / 2);  // A client may know before the facility does.
    CHECK(result.counted.datagrams > 0);
}

}  // namespace

TEST_CASE("a pipeline of gyre on epoll plays scenarios, by multicast and to one host") {
    for (const scenario_name which :
         {scenario_name::place_and_cancel, scenario_name::trade, scenario_name::mass_cancel})
        check_plays(gyre::backend_choice::epoll, which, feed_transport::multicast);
    check_plays(gyre::backend_choice::epoll, scenario_name::trade, feed_transport::unicast);
}

TEST_CASE("a pipeline of gyre on whatever this machine has plays a sweep") {
    check_plays(gyre::backend_choice::automatic, scenario_name::sweep_sparse_levels,
                feed_transport::multicast);
}

TEST_CASE("a facility that was stopped can be destroyed, and one that never started as well") {
    pipeline never_started = on(gyre::backend_choice::epoll);
    never_started.stop();

    CHECK(never_started.counts().datagrams == std::nullopt);
}
