// SPDX-License-Identifier: BSL-1.0
//
// Counting forks: see fork_count.hpp.
#include <runtime/fork_count.hpp>

#include <gyre/coro/frame_allocator.hpp>

#include <pthread.h>

#include <atomic>

namespace gyre {

constinit std::atomic<unsigned> fork_counter::forks = 0;

namespace {

void count_in_child() noexcept {
    frame_cache::unlock_central_cache();
    fork_counter::forks.fetch_add(1, std::memory_order_relaxed);
}

// Before there are threads: one might fork while another is at this.
[[maybe_unused]] const int counting = ::pthread_atfork(
    &frame_cache::lock_central_cache, &frame_cache::unlock_central_cache, &count_in_child);

}  // namespace

}  // namespace gyre
