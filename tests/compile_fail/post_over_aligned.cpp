// SPDX-License-Identifier: BSL-1.0
//
// A posted function is moved into memory that is aligned for ordinary types only.
//
// must not compile: keep what is over-aligned elsewhere
#include <gyre/runtime/io_context.hpp>

struct alignas(64) line {
    char bytes[64];
};

void post(gyre::io_context& io) {
    io.post([it = line{}] { static_cast<void>(it); });
}
