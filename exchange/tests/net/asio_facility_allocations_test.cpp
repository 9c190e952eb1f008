// SPDX-License-Identifier: BSL-1.0
//
// A warm facility on Asio's coroutines, counted.
#include <exchange/net/application/matching_facility.hpp>

#include <exchange/tests/net/asio_side.hpp>
#include <exchange/tests/net/facility_allocations.hpp>

using namespace exchange;
using namespace exchange::testing;

TEST_CASE("asio facility: once it is warm, orders, trades and the feed allocate nothing") {
    allocation_law<asio_side, matching_facility<asio_traits>>::a_warm_facility_allocates_nothing();
}
