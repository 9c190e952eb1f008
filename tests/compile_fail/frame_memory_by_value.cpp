// SPDX-License-Identifier: BSL-1.0
//
// An allocator is not what a frame comes from, and may not be taken for an ordinary argument.
//
// must not compile: a coroutine takes a pointer to what its frame comes from
#include <gyre/coro/task.hpp>

#include <memory>

gyre::task<int> answer(std::allocator_arg_t, std::allocator<std::byte>) { co_return 42; }
