// SPDX-License-Identifier: BSL-1.0
//
// The eight scenarios through a gateway: each event derives exactly the messages that it derives without
// one, which the player counts, and a missing or a further one is a fault.
#include <exchange/bench/gateway_in_front.hpp>

#include <exchange/bench/measurement.hpp>
#include <exchange/bench/seam_facility.hpp>
#include <exchange/net/gyre/traits.hpp>

#include <doctest/doctest.h>

using namespace exchange;
using namespace exchange::bench;

namespace {

using fronted = gateway_in_front;
using fronted_pipeline = seam_facility<fronted, gyre::io_context, gyre::io_context_options>;

void check_plays_through_a_gateway(gyre::backend_choice backend, scenario_name which,
                                   book_state book) {
    const cell played{which, book, unbounded, 60, 6};
    CAPTURE(name_of(played));
    gyre::io_context_options options;
    options.backend = backend;
    fronted::context_options = options;
    fronted_pipeline facility{{"gyre", "gyre", "", ""}, {}, options};

    const cell_result result = measure(facility, played, {});

    REQUIRE(result.fault == "");
    CHECK(result.wire.count == 60);
    CHECK(result.internal.count == 60);
}

}  // namespace

TEST_CASE("all scenarios play through a gateway, and each event derives what it does without one") {
    for (const gyre::backend_choice backend :
         {gyre::backend_choice::epoll, gyre::backend_choice::automatic})
        for (auto which = scenario_name::place_and_cancel; which <= scenario_name::mass_cancel;
             which = static_cast<scenario_name>(static_cast<int>(which) + 1))
            check_plays_through_a_gateway(backend, which, book_state::filled);
}
