// SPDX-License-Identifier: BSL-1.0
//
// A warm gateway and a warm distributor on gyre's coroutines, counted with their facility.
#include <exchange/net/application/matching_facility.hpp>

#include <exchange/tests/net/facility_allocations.hpp>
#include <exchange/tests/net/gyre_side.hpp>

using namespace exchange;
using namespace exchange::testing;

TEST_CASE(
    "gyre gateway and distributor: once they are warm, what passes through allocates nothing") {
    allocation_law<gyre_side, matching_facility<gyre_traits>>::
        a_warm_gateway_and_distributor_allocate_nothing();
}
