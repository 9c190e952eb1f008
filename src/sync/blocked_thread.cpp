// SPDX-License-Identifier: BSL-1.0
//
// Blocking a thread: see include/gyre/sync/blocked_thread.hpp.
#include <gyre/sync/blocked_thread.hpp>

#include <gyre/base/check.hpp>

namespace gyre {

blocked_thread::blocked_thread() noexcept : env_{executor_ref{*this}, nullptr, &chain_} {
    expects(!loop::any_runs_here(),
            "a coroutine does not block its thread, which runs a loop: co_await the form that "
            "waits, or call this in blocking(...)");
}

bool blocked_thread::wait_until(time_point deadline) noexcept {
    const auto posted = [this] { return posted_; };
    bool expired = false;
    std::unique_lock hold{mutex_};
    if (deadline == never) {
        told_.wait(hold, posted);
    } else if (!told_.wait_until(hold, deadline, posted)) {
        expired = true;
        hold.unlock();
        chain_.request(stop_level::stop);  // Ends the wait, unless something else has by now.
        hold.lock();
        told_.wait(hold, posted);
    }
    hold.unlock();
    item_->run(*item_);
    return expired;
}

void blocked_thread::post(work& item) noexcept {
    item_ = &item;
    wake_for_enqueued();
}

sleeper* blocked_thread::enqueue(work& item) noexcept {
    item_ = &item;
    return this;
}

// Under the lock to the end: when the thread finds it free, this is done with.
void blocked_thread::wake_for_enqueued() noexcept {
    const std::lock_guard hold{mutex_};
    posted_ = true;
    told_.notify_one();
}

}  // namespace gyre
