// SPDX-License-Identifier: BSL-1.0
//
// The crowd behind bad links, with Asio's completion handlers in both ways of writing.
#include <exchange/tests/links/bad_links_law.hpp>
#include <exchange/tests/links/lossy_network.hpp>

#include <exchange/net/asio/callback/facility.hpp>
#include <exchange/net/asio/traits.hpp>
#include <exchange/tests/net/eager_facility.hpp>

using namespace exchange;
using namespace exchange::testing;
using law_here = bad_links_law<asio_traits, callback_facility>;
using law_when_eager = bad_links_law<asio_traits, eager_facility>;

TEST_CASE("callback facility: whatever links do, all views equal the exchange's in the end") {
    law_here::all_views_equal_the_exchanges({});
}
TEST_CASE("eager callbacks: whatever links do, all views equal the exchange's in the end") {
    law_when_eager::all_views_equal_the_exchanges({});
}

TEST_CASE(
    "callback facility: whatever links do, nothing of a life that is over is left in any view") {
    law_here::all_views_equal_the_exchanges_after_a_crash({});
}

// lossy_network.py runs these.
TEST_CASE("lossy network: callback facility: all views equal the exchange's in the end" *
          doctest::skip(!in_lossy_network())) {
    law_here::all_views_equal_the_exchanges({}, lossy_network());
}
TEST_CASE("lossy network: eager callbacks: all views equal the exchange's in the end" *
          doctest::skip(!in_lossy_network())) {
    law_when_eager::all_views_equal_the_exchanges({}, lossy_network());
}
