// SPDX-License-Identifier: BSL-1.0
//
// The scenarios over the wire on Asio's completion handlers, in both ways of writing: the same bytes.
#include <exchange/net/asio/callback/facility.hpp>

#include <exchange/tests/net/asio_side.hpp>
#include <exchange/tests/net/eager_facility.hpp>
#include <exchange/tests/net/golden_streams.hpp>

using namespace exchange;
using namespace exchange::testing;

TEST_CASE("golden streams: Asio's completion handlers") {
    for (const golden_stream& each : golden_streams) {
        golden_law<asio_side, callback_facility>::holds(each);
        golden_law<asio_side, eager_facility>::holds(each);
    }
}
