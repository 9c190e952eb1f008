// SPDX-License-Identifier: BSL-1.0
//
// Sockets, timers and coroutines point at their loop: it neither copies nor moves.
//
// must not compile: deleted
#include <gyre/runtime/io_context.hpp>

#include <utility>

void twice(gyre::io_context& it) { gyre::io_context other{std::move(it)}; }
