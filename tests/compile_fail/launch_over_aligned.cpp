// SPDX-License-Identifier: BSL-1.0
//
// A handler is kept in a root's record, which is aligned for ordinary types only.
//
// must not compile: keep what is over-aligned elsewhere
#include <gyre/coro/launch.hpp>
#include <gyre/runtime/io_context.hpp>

struct alignas(64) line {
    char bytes[64];
};

void begin(gyre::io_context& io, gyre::task<> it) {
    launch(io, std::move(it),
           [kept = line{}](gyre::task_outcome<void>) { static_cast<void>(kept); });
}
