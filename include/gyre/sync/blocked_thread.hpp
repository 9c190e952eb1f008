// SPDX-License-Identifier: BSL-1.0
//
// A plain thread that waits for what coroutines wait for.
//
// It stands in the same queues, first come, first served, and brings its own executor, which runs one
// thing: the end of the wait. So whatever waits in shared_waiters has a form that blocks for one line.
#pragma once

#include <gyre/base/error.hpp>
#include <gyre/base/time.hpp>
#include <gyre/coro/awaitable.hpp>
#include <gyre/coro/resume.hpp>

#include <condition_variable>
#include <mutex>
#include <utility>

namespace gyre {

/// The executor, and all else that is ambient to a wait of the calling thread. Does not move.
class blocked_thread final : public sleeper {
public:
    blocked_thread() noexcept;
    blocked_thread(const blocked_thread&) = delete;
    blocked_thread& operator=(const blocked_thread&) = delete;

    /// Runs what is posted, and returns then; at `deadline` asks the wait to end.
    /// @return Whether it was asked to.
    bool wait_until(time_point deadline) noexcept;

    [[nodiscard]] std::coroutine_handle<> handle() noexcept { return waiter_.handle(); }
    [[nodiscard]] const environment& env() const noexcept { return env_; }

    void post(work& item) noexcept;
    [[nodiscard]] sleeper* enqueue(work& item) noexcept;
    void wake_for_enqueued() noexcept override;

private:
    callback_frame waiter_{[](callback_frame*) {}};
    stop_chain chain_;
    environment env_;
    work* item_ =
        nullptr;  // Under the queue's lock until it has been told, afterwards the thread's.

    std::mutex mutex_;
    std::condition_variable told_;
    bool posted_ = false;  // Under `mutex_`.
};

/// Waits on the calling thread for `it`, an awaiter of shared_waiters.hpp, and yields what a coroutine would
/// be given; but `errc::timed_out` where `deadline` has ended the wait.
///
/// @pre  the thread runs no loop, which would be held up.
template <awaitable Awaiter>
awaited<Awaiter> block_on(Awaiter it, time_point deadline) noexcept {
    blocked_thread here;
    bool expired = false;
    if (it.await_suspend(here.handle(), &here.env())) expired = here.wait_until(deadline);
    auto result = it.await_resume();
    if (expired && result.error() == errc::canceled) result.set_error(errc::timed_out);
    return result;
}

}  // namespace gyre
