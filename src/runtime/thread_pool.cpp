// SPDX-License-Identifier: BSL-1.0
//
// The workers of include/gyre/runtime/thread_pool.hpp.
#include <gyre/runtime/thread_pool.hpp>

#include <gyre/base/check.hpp>
#include <gyre/runtime/io_context.hpp>
#include <runtime/started_thread.hpp>

namespace gyre {
namespace {

std::int32_t carry_out(operation& op) noexcept {
    if (op.code != opcode::call) return op.home->host().perform_now(op);
    const auto& it = static_cast<const call_operation&>(op);
    it.function(it.argument);
    return 0;
}

}  // namespace

thread_pool::thread_pool(unsigned threads_max, const sigset_t& blocked) noexcept
    : threads_max_{threads_max}, blocked_{blocked} {
    expects(threads_max > 0, "a pool without threads would never run anything");
}

thread_pool::~thread_pool() {
    {
        const std::lock_guard lock{mutex_};
        closed_ = true;
    }
    wanted_.notify_all();
    for (const pthread_t each : threads_) ::pthread_join(each, nullptr);
}

int thread_pool::submit(operation& op) noexcept {
    {
        const std::lock_guard lock{mutex_};
        // A worker for each: calls may wait for each other, so none must wait behind another one that
        // the same idle worker was woken for.
        if (waiting_count_ >= idle_ && threads_.size() < threads_max_) {
            const int failed = start_worker();
            if (failed != 0 && threads_.empty()) return failed;
        }
        waiting_.push(op);
        ++waiting_count_;
    }
    wanted_.notify_one();
    return 0;
}

int thread_pool::start_worker() noexcept {
    const auto body = [](void* pool) -> void* {
        auto& self = *static_cast<thread_pool*>(pool);
        sigset_t blocked = self.blocked_;
        ::sigaddset(&blocked, SIGXFSZ);  // A write beyond RLIMIT_FSIZE says EFBIG as well.
        ::pthread_sigmask(SIG_SETMASK, &blocked, nullptr);
        self.work_until_closed();
        return nullptr;
    };
    const started_thread made = start_with_signals_blocked(body, this);
    if (made.failed != 0) return made.failed;
    threads_.push_back(made.thread);
    ++idle_;
    return 0;
}

bool thread_pool::withdraw(operation& op) noexcept {
    const std::lock_guard lock{mutex_};
    if (!waiting_.remove(op)) return false;
    --waiting_count_;
    return true;
}

void thread_pool::work_until_closed() noexcept {
    std::unique_lock lock{mutex_};
    for (;;) {
        wanted_.wait(lock, [this] { return closed_ || !waiting_.empty(); });
        if (waiting_.empty()) return;

        auto& op = static_cast<operation&>(waiting_.pop());
        --waiting_count_;
        --idle_;
        lock.unlock();
        const std::int32_t result = carry_out(op);
        op.home->complete_on_worker(op, result);
        lock.lock();
        ++idle_;
    }
}

}  // namespace gyre
