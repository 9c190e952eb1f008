// SPDX-License-Identifier: BSL-1.0
//
// The crowd behind bad links, with Asio's coroutines.
#include <exchange/tests/links/bad_links_law.hpp>
#include <exchange/tests/links/lossy_network.hpp>

#include <exchange/net/application/matching_facility.hpp>
#include <exchange/net/asio/traits.hpp>

using namespace exchange;
using namespace exchange::testing;
using law_here = bad_links_law<asio_traits, matching_facility<asio_traits>>;

TEST_CASE("asio facility: whatever links do, all views equal the exchange's in the end") {
    law_here::all_views_equal_the_exchanges({});
}

TEST_CASE("asio facility: whatever links do, nothing of a life that is over is left in any view") {
    law_here::all_views_equal_the_exchanges_after_a_crash({});
}

// lossy_network.py runs it.
TEST_CASE("lossy network: asio facility: all views equal the exchange's in the end" *
          doctest::skip(!in_lossy_network())) {
    law_here::all_views_equal_the_exchanges({}, lossy_network());
}
