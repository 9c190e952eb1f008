// SPDX-License-Identifier: BSL-1.0
//
// A warm gateway and a warm distributor whose clients came over WebSocket, counted with their facility.
#include <exchange/net/application/matching_facility.hpp>
#include <exchange/net/transport/websocket_packets.hpp>

#include <exchange/tests/net/facility_allocations.hpp>
#include <exchange/tests/net/gyre_side.hpp>
#include <exchange/tests/net/websocket_side.hpp>

using namespace exchange;
using namespace exchange::testing;

namespace {

using law = allocation_law<gyre_side, matching_facility<gyre_traits>, over_websocket<gyre_traits>,
                           websocket_packets<gyre_traits>>;

}  // namespace

TEST_CASE("websocket gateway and distributor: once they are warm, nothing is allocated, in SBE") {
    law::a_warm_gateway_and_distributor_allocate_nothing();
}

TEST_CASE("websocket gateway and distributor: once they are warm, nothing is allocated, in JSON") {
    const speaking_json format;
    law::a_warm_gateway_and_distributor_allocate_nothing();
}
