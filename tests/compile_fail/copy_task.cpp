// SPDX-License-Identifier: BSL-1.0
//
// A task owns its frame: it moves and does not copy.
//
// must not compile: deleted
#include <gyre/coro/task.hpp>

gyre::task<> twice(const gyre::task<>& it) { return it; }
