// SPDX-License-Identifier: BSL-1.0
//
// A warm facility on gyre's coroutines, counted.
#include <exchange/net/application/matching_facility.hpp>

#include <exchange/tests/net/facility_allocations.hpp>
#include <exchange/tests/net/gyre_side.hpp>

using namespace exchange;
using namespace exchange::testing;

TEST_CASE("gyre facility: once it is warm, orders, trades and the feed allocate nothing") {
    allocation_law<gyre_side, matching_facility<gyre_traits>>::a_warm_facility_allocates_nothing();
}
