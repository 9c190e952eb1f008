// SPDX-License-Identifier: BSL-1.0
//
// The crowd behind bad links, with gyre's coroutines on every backend.
#include <exchange/tests/links/bad_links_law.hpp>
#include <exchange/tests/links/lossy_network.hpp>

#include <exchange/net/application/matching_facility.hpp>
#include <exchange/net/gyre/traits.hpp>

using namespace exchange;
using namespace exchange::testing;
using law_here = bad_links_law<gyre_traits, matching_facility<gyre_traits>>;

TEST_CASE("gyre facility: whatever links do, all views equal the exchange's in the end") {
    gyre::testing::with_every_backend([](const gyre::io_context_options& options) {
        law_here::all_views_equal_the_exchanges(options);
    });
}

TEST_CASE("gyre facility: whatever links do, nothing of a life that is over is left in any view") {
    gyre::testing::with_every_backend([](const gyre::io_context_options& options) {
        law_here::all_views_equal_the_exchanges_after_a_crash(options);
    });
}

// lossy_network.py runs it.
TEST_CASE("lossy network: gyre facility: all views equal the exchange's in the end" *
          doctest::skip(!in_lossy_network())) {
    law_here::all_views_equal_the_exchanges({}, lossy_network());
}
