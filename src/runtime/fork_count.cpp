// SPDX-License-Identifier: BSL-1.0
//
// Counting forks: see fork_count.hpp.
#include <runtime/fork_count.hpp>

#include <gyre/base/last_words.hpp>
#include <gyre/coro/frame_allocator.hpp>
#include <runtime/system_host.hpp>

#include <pthread.h>

#include <atomic>

namespace gyre {

constinit std::atomic<unsigned> fork_counter::forks = 0;

namespace {

void lock_for_fork() noexcept {
    // Made by now: in a child one that another thread was making would be awaited for ever.
    static_cast<void>(system_host::instance());
    last_words::lock_all();
    frame_cache::lock_central_cache();
}

void unlock_after_fork() noexcept {
    frame_cache::unlock_central_cache();
    last_words::unlock_all();
}

void count_in_child() noexcept {
    unlock_after_fork();
    fork_counter::forks.fetch_add(1, std::memory_order_relaxed);
}

// Before there are threads: one might fork while another is at this.
[[maybe_unused]] const int counting =
    ::pthread_atfork(&lock_for_fork, &unlock_after_fork, &count_in_child);

}  // namespace

}  // namespace gyre
