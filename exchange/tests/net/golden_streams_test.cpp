// SPDX-License-Identifier: BSL-1.0
//
// The scenarios over the wire on gyre, on io_uring as on epoll.
#include <exchange/tests/net/golden_streams.hpp>
#include <exchange/tests/net/gyre_world.hpp>

using namespace exchange;
using namespace exchange::testing;

namespace {

/// One of each kind: what differs between the tiers of io_uring, other tests judge.
struct gyre_on_either : gyre_world {
    template <class Body>
    static void each_context(const Body& body) {
        each_context_options([&](const gyre::io_context_options& options) {
            if (options.backend == gyre::backend_choice::uring_a ||
                options.backend == gyre::backend_choice::epoll)
                on(options, body);
        });
    }
};

}  // namespace

TEST_CASE("golden streams: gyre, on io_uring and on epoll") {
    for (const golden_stream& each : golden_streams)
        golden_law<gyre_on_either, matching_facility<gyre_traits>>::holds(each);
}
