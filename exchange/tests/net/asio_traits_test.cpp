// SPDX-License-Identifier: BSL-1.0
//
// The laws of the seam on Boost.Asio's side.
#include <exchange/net/asio_traits.hpp>

#include <exchange/tests/net/asio_world.hpp>
#include <exchange/tests/net/seam_laws.hpp>

using namespace exchange::testing;
using world = asio_world;

TEST_CASE("asio: what one end writes, gathered or not, the other one reads in order") {
    bytes_arrive_in_order<world>();
}
