// SPDX-License-Identifier: BSL-1.0
//
// Boost.Asio's side of the seam as the laws see it.
#pragma once

#include <exchange/net/asio_traits.hpp>

#include <support/harness.hpp>

#include <utility>

namespace exchange::testing {

struct asio_world {
    using traits = asio_traits;

    template <class Body>
    static void each_context(const Body& body) {
        INFO("Asio");
        asio_loop context;
        body(context);
    }

    /// Runs until nothing is left, or the harness' patience ends. True if nothing is left.
    [[nodiscard]] static bool run_to_rest(asio_loop& context) {
        context.restart();
        context.run_for(gyre::testing::patience);
        return context.stopped();
    }
};

}  // namespace exchange::testing
