// SPDX-License-Identifier: BSL-1.0
//
// A springboard cannot have its frame in a resource, and does not ignore that it was asked to.
//
// must not compile: a springboard's frame and record are one block of the frame cache
#include <gyre/interop/springboard.hpp>

#include <memory>
#include <memory_resource>

gyre::springboard<int> answer(std::allocator_arg_t, std::pmr::memory_resource*) { co_return 42; }
