// SPDX-License-Identifier: BSL-1.0
//
// A warm gateway and a warm distributor on Asio's coroutines, counted with their facility.
#include <exchange/net/application/matching_facility.hpp>

#include <exchange/tests/net/asio_side.hpp>
#include <exchange/tests/net/facility_allocations.hpp>

using namespace exchange;
using namespace exchange::testing;

TEST_CASE(
    "asio gateway and distributor: once they are warm, what passes through allocates nothing") {
    allocation_law<asio_side, matching_facility<asio_traits>>::
        a_warm_gateway_and_distributor_allocate_nothing();
}
