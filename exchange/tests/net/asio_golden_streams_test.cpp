// SPDX-License-Identifier: BSL-1.0
//
// The scenarios over the wire on Asio: the same bytes as on gyre.
#include <exchange/tests/net/asio_side.hpp>
#include <exchange/tests/net/golden_streams.hpp>

using namespace exchange;
using namespace exchange::testing;

TEST_CASE("golden streams: Asio's coroutines") {
    for (const golden_stream& each : golden_streams)
        golden_law<asio_side, matching_facility<asio_traits>>::holds(each);
}
