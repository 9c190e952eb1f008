// SPDX-License-Identifier: BSL-1.0
//
// A task that is called but not awaited does nothing at all; the compiler has to say so.
//
// must not compile: nodiscard|ignoring return
#include <gyre/coro/task.hpp>

// snippet: task_dropped
gyre::task<> greet();

void forget() { greet(); }
// end of snippet
