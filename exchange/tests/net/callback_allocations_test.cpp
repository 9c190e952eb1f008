// SPDX-License-Identifier: BSL-1.0
//
// A warm facility on Asio's completion handlers, counted.
#include <exchange/net/asio/callback/facility.hpp>

#include <exchange/tests/net/asio_side.hpp>
#include <exchange/tests/net/eager_facility.hpp>
#include <exchange/tests/net/facility_allocations.hpp>

using namespace exchange;
using namespace exchange::testing;

TEST_CASE("callback facility: once it is warm, orders, trades and the feed allocate nothing") {
    allocation_law<asio_side, callback_facility>::a_warm_facility_allocates_nothing();
    allocation_law<asio_side, eager_facility>::a_warm_facility_allocates_nothing();
}
