// SPDX-License-Identifier: BSL-1.0
//
// Somebody has to hear of the end of what is launched.
//
// must not compile: launch takes a handler
#include <gyre/coro/launch.hpp>
#include <gyre/runtime/io_context.hpp>

// snippet: launch_without_handler
gyre::task<> work();

void begin(gyre::io_context& loop) { gyre::launch(loop, work()); }
// end of snippet
