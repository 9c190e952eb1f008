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

    static constexpr bool events_die_first = true;

    template <class Body>
    static void each_context_options(const Body& body) {
        INFO("Asio");
        body(asio_loop_options{});
    }

    template <class Body>
    static void each_context(const Body& body) {
        INFO("Asio");
        asio_loop context;
        body(context);
    }

    /// Runs until nothing is left; ctest's patience bounds it, since Asio runs with a limit item by item,
    /// and forgets its stock of free blocks after each.
    [[nodiscard]] static bool run_to_rest(asio_loop& context) {
        context.run();
        return context.stopped();
    }
};

}  // namespace exchange::testing
