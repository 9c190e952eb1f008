// SPDX-License-Identifier: BSL-1.0
//
// A tag with nothing behind it asks for a resource that there is not.
//
// must not compile: a coroutine takes a pointer to what its frame comes from
#include <gyre/coro/task.hpp>

#include <memory>

gyre::task<int> answer(std::allocator_arg_t) { co_return 42; }
