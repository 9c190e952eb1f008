// SPDX-License-Identifier: BSL-1.0
//
// A few threads for what must not run on a loop: blocking libraries, heavy computation.
//
// Loops hand it `call` operations and get each back as a completion; nobody waits for anybody.
// call.hpp is the awaitable on top of it.
#pragma once

#include <gyre/runtime/operation.hpp>

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>
#include <vector>

namespace gyre {

/// Workers that are started on demand. Destroying it waits for calls that have begun.
class thread_pool {
public:
    /// @param  threads_max  At least 1; how many calls may run at the same time.
    explicit thread_pool(unsigned threads_max) noexcept;
    thread_pool(const thread_pool&) = delete;
    thread_pool& operator=(const thread_pool&) = delete;
    ~thread_pool();

    /// Queues `op`; its loop completes it when it has run. First come, first served. Any thread.
    /// Cost: a lock, and a thread the first few times.
    void submit(call_operation& op);

    /// Takes `op` back if it has not begun. True if it will not run.
    [[nodiscard]] bool withdraw(call_operation& op) noexcept;

private:
    void work_until_closed() noexcept;

    const unsigned threads_max_;
    std::mutex mutex_;
    std::condition_variable wanted_;
    work_queue waiting_;
    unsigned idle_ = 0;
    bool closed_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace gyre
