// SPDX-License-Identifier: BSL-1.0
//
// A few threads for what must not run on a loop: blocking libraries, heavy computation, files.
//
// Loops hand it operations and get each back as a completion; no thread waits for another.
// call.hpp is the awaitable on top of it.
#pragma once

#include <gyre/runtime/operation.hpp>

#include <pthread.h>
#include <signal.h>

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <vector>

namespace gyre {

/// Workers that are started on demand. Destroying it waits for calls that have begun.
class thread_pool {
public:
    /// @param  threads_max  At least 1; how many calls may run at the same time.
    /// @param  blocked      The signals that are blocked while they run; SIGXFSZ is as well.
    thread_pool(unsigned threads_max, const sigset_t& blocked) noexcept;
    thread_pool(const thread_pool&) = delete;
    thread_pool& operator=(const thread_pool&) = delete;
    ~thread_pool();

    /// Queues `op`; its loop completes it when it has run. First come, first served. Any thread.
    /// Returns 0, or what pthread_create(3) says if there is no worker and none could be started; then
    /// nothing was queued. Where there are some, `op` waits for one of these.
    /// Cost: a lock, and a thread while more calls wait than workers do.
    [[nodiscard]] int submit(operation& op) noexcept;

    /// Takes `op` back if it has not begun. True if it will not run.
    [[nodiscard]] bool withdraw(operation& op) noexcept;

private:
    [[nodiscard]] int start_worker() noexcept;
    void work_until_closed() noexcept;

    const unsigned threads_max_;
    const sigset_t blocked_;
    std::mutex mutex_;
    std::condition_variable wanted_;
    work_queue waiting_;
    std::size_t waiting_count_ = 0;
    std::size_t idle_ = 0;  // Workers without a call, those included that are just beginning.
    bool closed_ = false;
    std::vector<pthread_t> threads_;
};

}  // namespace gyre
