// SPDX-License-Identifier: BSL-1.0
//
// A loop of the test's own beside a pool, on every backend: what tests of several loops begin with.
#pragma once

#include <gyre/runtime/io_pool.hpp>
#include <support/harness.hpp>

#include <utility>

namespace gyre::testing {

/// Calls `body(io, pool)` once per backend under test, with a pool of `threads` loops.
template <class Body>
void with_pools(unsigned threads, const Body& body) {
    with_every_backend([&](const io_context_options& each) {
        io_pool_options options;
        options.threads = threads;
        options.loop = each;
        io_pool pool{options};
        io_context io{each};
        body(io, pool);
    });
}

/// Runs `coroutine` on `io` to its end, which must come within the harness's patience.
inline void run_here(io_context& io, task<> coroutine) {
    const auto ended = std::make_shared<bool>(false);  // One that hangs ends with the loop.
    launch(io, std::move(coroutine), [ended](task_outcome<void> outcome) {
        outcome.get();
        *ended = true;
    });
    io.run_for(patience);
    REQUIRE(*ended);
}

}  // namespace gyre::testing
