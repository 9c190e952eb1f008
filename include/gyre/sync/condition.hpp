// SPDX-License-Identifier: BSL-1.0
//
// Waiting, under a lock, for another coroutine to change what the lock protects.
#pragma once

#include <gyre/base/check.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/sync/mutex.hpp>
#include <gyre/sync/waiters.hpp>

namespace gyre {

/// On the loop or strand of its mutex. Must outlive its waiters.
class condition {
public:
    /// Lets go of the lock, waits to be notified, and takes the lock again.
    ///
    /// @param  held  Borrowed; owns the lock on return unless the error says otherwise.
    ///
    /// Errors:        none but cancellation.
    /// Cancellation:  `errc::canceled`; the lock is taken again first, so that the caller may always
    ///                look at what it protects.
    /// Threads:       the loop or strand of the mutex.
    /// Cost:          one frame.
    [[nodiscard]] task<io_result<>> wait(mutex::guard& held);

    /// Ends the longest wait, or all of them. The lock need not be held.
    void notify_one() noexcept;
    void notify_all() noexcept { waiting_.wake_all(); }

private:
    class notification final : public waiter {
    public:
        explicit notification(condition& of) noexcept : waiter{"condition"}, of_{of} {}
        notification(const notification&) = delete;
        notification& operator=(const notification&) = delete;
        ~notification() {
            // A frame that is destroyed before it has the lock again has not seen what it was told of.
            if (alone_) of_.notify_one();
        }

        [[nodiscard]] bool await_suspend(std::coroutine_handle<> handle,
                                         const environment* given) noexcept {
            return wait_in(of_.waiting_, handle, *given);
        }
        io_result<> await_resume() const noexcept { return outcome(); }

        /// Its coroutine goes on under the lock.
        void arrive() noexcept { alone_ = false; }

    private:
        friend class condition;

        condition& of_;
        bool alone_ = false;  // Notified as one, not with all.
    };

    class relock;

    waiters waiting_;
};

}  // namespace gyre
