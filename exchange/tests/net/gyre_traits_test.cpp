// SPDX-License-Identifier: BSL-1.0
//
// The laws of the seam on gyre's own side.
#include <exchange/net/gyre_traits.hpp>

#include <exchange/tests/net/gyre_world.hpp>
#include <exchange/tests/net/seam_laws.hpp>

using namespace exchange::testing;
using world = gyre_world;

TEST_CASE("gyre: what one end writes, gathered or not, the other one reads in order") {
    bytes_arrive_in_order<world>();
}
