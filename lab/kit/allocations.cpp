// SPDX-License-Identifier: BSL-1.0
//
// Counts the allocations of each thread; counting_malloc.hpp has what is counted.
#include <lab/kit/allocations.hpp>

#include <lab/kit/counting_malloc.hpp>

namespace {

// Not atomic: each thread counts its own, so that counting costs one increment.
constinit thread_local std::uint64_t allocation_count = 0;

}  // namespace

static void count_allocation() noexcept { ++allocation_count; }

namespace lab {

std::uint64_t allocations_of_this_thread() noexcept { return allocation_count; }

}  // namespace lab
