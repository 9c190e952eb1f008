// SPDX-License-Identifier: BSL-1.0
//
// gyre's side of the seam as the laws see it: every backend, each with a context of its own.
#pragma once

#include <exchange/net/gyre/traits.hpp>

#include <support/harness.hpp>

#include <string>

namespace exchange::testing {

struct gyre_side {
    using traits = gyre_traits;

    /// Whether events must be gone before their context; else their context goes first.
    static constexpr bool events_die_first = false;

    /// Calls `body(options)` once per backend under test.
    template <class Body>
    static void each_context_options(const Body& body) {
        for (const gyre::backend_choice each : gyre::testing::backends_under_test()) {
            INFO("gyre on ", std::string{gyre::describe(each)});
            gyre::io_context_options options;
            options.backend = each;
            body(options);
        }
    }

    /// Calls `body(context)` once per backend under test.
    template <class Body>
    static void each_context(const Body& body) {
        each_context_options([&](const gyre::io_context_options& options) { on(options, body); });
    }

    template <class Body>
    static void on(const gyre::io_context_options& options, const Body& body) {
        gyre::io_context context{options};
        REQUIRE_FALSE(context.status());
        body(context);
    }

    /// Runs until nothing is left, or the harness' patience ends. True if nothing is left.
    [[nodiscard]] static bool run_to_rest(gyre::io_context& context,
                                          gyre::duration limit = gyre::testing::patience) {
        context.run_for(limit);
        return !context.has_work();
    }
};

}  // namespace exchange::testing
