// SPDX-License-Identifier: BSL-1.0
//
// Tests that take many steps to show that none of them stays on the stack.
//
// What they show depends on the compiler, not on the backend: the same answer four times took five seconds of
// processor time without optimisation and a minute under a sanitizer.
#pragma once

#include <support/harness.hpp>

namespace gyre::testing {

/// More than the eight MiB of a thread's stack could hold, were each step to leave just 32 bytes there.
inline constexpr int many_steps = 300'000;

/// Runs `body(io)`, which asks the kernel for nothing, on the first of the backends under test.
template <class Body>
void in_a_long_run(const Body& body) {
    if (backends_under_test().empty()) return skip_without_backends();
    run_on(backends_under_test().front(), body);
}

}  // namespace gyre::testing
