// SPDX-License-Identifier: BSL-1.0
//
// The scenarios over the wire on gyre, on io_uring as on epoll.
#include <exchange/tests/net/golden_streams.hpp>
#include <exchange/tests/net/gyre_side.hpp>

#include <utility>

using namespace exchange;
using namespace exchange::testing;

namespace {

/// One of each kind, if it is under test: what differs between the tiers of io_uring, other tests judge.
struct gyre_on_either : gyre_side {
    template <class Body>
    static void each_context(const Body& body) {
        bool on_a_ring = false;
        each_context_options([&](const gyre::io_context_options& options) {
            const bool ring = options.backend != gyre::backend_choice::epoll;
            if (ring && std::exchange(on_a_ring, true)) return;
            on(options, body);
        });
    }
};

}  // namespace

TEST_CASE("golden streams: gyre, on io_uring and on epoll") {
    for (const golden_stream& each : golden_streams)
        golden_law<gyre_on_either, matching_facility<gyre_traits>>::holds(each);
}
