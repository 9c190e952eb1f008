// SPDX-License-Identifier: BSL-1.0
//
// The workers of include/gyre/runtime/thread_pool.hpp.
#include <gyre/runtime/thread_pool.hpp>

#include <gyre/base/check.hpp>
#include <gyre/runtime/io_context.hpp>
#include <runtime/quiet_thread.hpp>

namespace gyre {

thread_pool::thread_pool(unsigned threads_max) noexcept : threads_max_{threads_max} {
    expects(threads_max > 0, "a pool without threads would never run anything");
}

thread_pool::~thread_pool() {
    {
        const std::lock_guard lock{mutex_};
        closed_ = true;
    }
    wanted_.notify_all();
    for (std::thread& each : threads_) each.join();
}

void thread_pool::submit(call_operation& op) {
    {
        const std::lock_guard lock{mutex_};
        waiting_.push(op);
        if (idle_ == 0 && threads_.size() < threads_max_) {
            const signals_blocked quiet;
            threads_.emplace_back([this] { work_until_closed(); });
        }
    }
    wanted_.notify_one();
}

bool thread_pool::withdraw(call_operation& op) noexcept {
    const std::lock_guard lock{mutex_};
    return waiting_.remove(op);
}

void thread_pool::work_until_closed() noexcept {
    std::unique_lock lock{mutex_};
    for (;;) {
        ++idle_;
        wanted_.wait(lock, [this] { return closed_ || !waiting_.empty(); });
        --idle_;
        if (waiting_.empty()) return;

        auto& op = static_cast<call_operation&>(waiting_.pop());
        lock.unlock();
        op.function(op.argument);
        op.home->complete_call(op);
        lock.lock();
    }
}

}  // namespace gyre
