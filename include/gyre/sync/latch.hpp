// SPDX-License-Identifier: BSL-1.0
//
// Waiting until something has happened a number of times, on whichever threads.
//
// Once open it stays open; barrier.hpp is for rounds.
#pragma once

#include <gyre/base/check.hpp>
#include <gyre/sync/blocked_thread.hpp>
#include <gyre/sync/shared_waiters.hpp>

#include <cstddef>
#include <mutex>

namespace gyre {

/// A counter that opens at zero. Must outlive its waiters; the last of those may destroy it.
///
/// Threads:  everything here is for any thread.
class latch {
public:
    explicit latch(std::size_t count) noexcept : left_{count} {}

    class [[nodiscard]] wait_awaiter final : public shared_waiter {
    public:
        explicit wait_awaiter(latch& on) noexcept : shared_waiter{"latch"}, on_{on} {}
        wait_awaiter(wait_awaiter&&) noexcept = default;
        ~wait_awaiter() { abandon(); }

        [[nodiscard]] bool await_suspend(std::coroutine_handle<> handle,
                                         const environment* given) noexcept {
            return wait_unless(on_.waiting_, handle, *given,
                               [this](wake_list&) { return on_.left_ == 0; });
        }
        io_result<> await_resume() const noexcept { return outcome(); }

    private:
        latch& on_;
    };

    /// It has happened `count` times more. @pre  that many are left.
    void count_down(std::size_t count = 1) noexcept {
        std::unique_lock hold{lock_};
        const bool counts = count <= left_;
        if (!counts) hold.unlock();  // A check_hook may be the program's.
        expects(counts, "a latch counts down to zero, and no further");
        left_ -= count;
        if (left_ == 0) waiting_.wake_all(hold);
    }

    /// Whether it is open.
    [[nodiscard]] bool try_wait() const noexcept {
        const std::lock_guard hold{lock_};
        return left_ == 0;
    }

    /// Waits until it is open.
    ///
    /// Errors:        none but cancellation.
    /// Cancellation:  `errc::canceled`.
    /// Threads:       any; resumes on the caller's executor.
    /// Cost:          no allocation; tens of ns if it is open.
    wait_awaiter wait() noexcept { return wait_awaiter{*this}; }

    /// The same for a thread without a loop, which blocks.
    /// Errors:  `errc::timed_out` at `deadline`.
    io_result<> wait_blocking(time_point deadline = never) noexcept {
        return block_on(wait(), deadline);
    }

private:
    std::size_t left_;
    shared_waiters waiting_{lock_};
    mutable spin_lock lock_;  // Of all above; goes first.
};

}  // namespace gyre
