// SPDX-License-Identifier: BSL-1.0
//
// Telling a coroutine, or a thread, on another loop that there is something to look at.
//
// The simplest user of shared_waiters.hpp, and the one to read first. It carries no value: the one that
// is notified looks by itself.
#pragma once

#include <gyre/base/check.hpp>
#include <gyre/sync/blocked_thread.hpp>
#include <gyre/sync/shared_waiters.hpp>

#include <cstddef>
#include <mutex>
#include <utility>

namespace gyre {

/// First come, first served. Must outlive its waiters.
///
/// Threads:  everything here is for any thread.
class notify {
public:
    notify() noexcept = default;
    notify(const notify&) = delete;
    notify& operator=(const notify&) = delete;
    ~notify() {
        expects(all_heard(),
                "what is waited for outlives the coroutines and threads that wait for it: declare "
                "it before their loops, or stop and await them first");
    }

    class [[nodiscard]] wait_awaiter final : public shared_waiter {
    public:
        explicit wait_awaiter(notify& on) noexcept : shared_waiter{"notify"}, on_{on} {}
        wait_awaiter(wait_awaiter&&) noexcept = default;
        ~wait_awaiter() {
            // What was for one is for another one then.
            if (abandon() == wait_state::woken && alone_) on_.pass_on();
        }

        [[nodiscard]] bool await_suspend(std::coroutine_handle<> handle,
                                         const environment* given) noexcept {
            return wait_unless(on_.waiting_, handle, *given, [this](wake_list&) {
                if (on_.pending_) on_.tell(*this);
                return std::exchange(on_.pending_, false);
            });
        }
        io_result<> await_resume() const noexcept {
            if (alone_) on_.heard();
            return outcome();
        }

    private:
        friend class notify;

        notify& on_;
        bool alone_ = false;  // Notified as one, not with all.
    };

    /// Waits until notified. A notification that came before is taken at once.
    ///
    /// Errors:        none but cancellation.
    /// Cancellation:  `errc::canceled`; no notification was taken.
    /// Threads:       any; resumes on the caller's executor.
    /// Cost:          no allocation; tens of ns if it was notified.
    wait_awaiter wait() noexcept { return wait_awaiter{*this}; }

    /// The same for a thread without a loop, which blocks.
    /// Errors:  `errc::timed_out` at `deadline`.
    io_result<> wait_blocking(time_point deadline = never) noexcept {
        return block_on(wait(), deadline);
    }

    /// Ends the longest wait. If there is none the next one ends at once; any number of such notifications
    /// count as one.
    void notify_one() noexcept {
        wake_list woken;
        const std::lock_guard hold{lock_};
        notify_next(woken);
    }

    /// Ends all waits that have begun, and nothing else.
    void notify_all() noexcept {
        std::unique_lock hold{lock_};
        waiting_.wake_all(hold);
    }

private:
    // All with the lock held, but the two that take it.

    void notify_next(wake_list& woken) noexcept {
        if (waiting_.empty()) {
            pending_ = true;
        } else {
            tell(static_cast<wait_awaiter&>(waiting_.front()));
            waiting_.wake_one(woken);
        }
    }
    void tell(wait_awaiter& one) noexcept {
        one.alone_ = true;
        ++told_;
    }
    void heard() noexcept {
        const std::lock_guard hold{lock_};
        --told_;
    }
    void pass_on() noexcept {
        wake_list woken;
        const std::lock_guard hold{lock_};
        --told_;
        notify_next(woken);
    }

    [[nodiscard]] bool all_heard() const noexcept {
        const std::lock_guard hold{lock_};
        return told_ == 0;
    }

    bool pending_ = false;  // False while any wait.
    std::size_t told_ =
        0;  // Notified as one, and not resumed: their notification may be passed on.
    shared_waiters waiting_{lock_};
    mutable spin_lock lock_;  // Of all above; goes first.
};

}  // namespace gyre
