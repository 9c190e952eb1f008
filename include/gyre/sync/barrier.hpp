// SPDX-License-Identifier: BSL-1.0
//
// Rounds of a fixed number of participants, none of which begins the next before all have ended this one.
#pragma once

#include <gyre/base/check.hpp>
#include <gyre/sync/blocked_thread.hpp>
#include <gyre/sync/shared_waiters.hpp>

#include <cstddef>
#include <mutex>

namespace gyre {

/// Must outlive its waiters.
///
/// Threads:  everything here is for any thread.
class barrier {
public:
    /// @param  participants  How many arrive in a round; at least 1.
    explicit barrier(std::size_t participants) noexcept : participants_{participants} {
        expects(participants > 0, "a round ends when a participant arrives");
    }

    class [[nodiscard]] arrive_awaiter final : public shared_waiter {
    public:
        explicit arrive_awaiter(barrier& at) noexcept : shared_waiter{"barrier"}, at_{at} {}
        arrive_awaiter(arrive_awaiter&&) noexcept = default;
        ~arrive_awaiter() { abandon(); }

        [[nodiscard]] bool await_suspend(std::coroutine_handle<> handle,
                                         const environment* given) noexcept {
            if (given->chain->stopping()) return go_on(handle, *given, errc::canceled);
            {
                std::unique_lock hold{at_.lock_};
                if (++at_.arrived_ < at_.participants_) {
                    wait_in(at_.waiting_, handle, *given);
                    return true;
                }
                at_.arrived_ = 0;
                at_.waiting_.wake_all(hold);
            }
            last_ = true;
            return go_on(handle, *given);
        }
        io_result<bool> await_resume() const noexcept {
            if (outcome()) return outcome();
            return last_;
        }

    private:
        void withdraw() noexcept override { --at_.arrived_; }

        barrier& at_;
        bool last_ = false;
    };

    /// Arrives, and waits until all have.
    ///
    /// @return Whether this one was the last, which one of each round is.
    ///
    /// Errors:        none but cancellation.
    /// Cancellation:  `errc::canceled`, and it has not arrived.
    /// Threads:       any; resumes on the caller's executor.
    /// Cost:          no allocation; the last one wakes each thread that sleeps.
    arrive_awaiter arrive_and_wait() noexcept { return arrive_awaiter{*this}; }

    /// The same for a thread without a loop, which blocks.
    /// Errors:  `errc::timed_out` at `deadline`, and it has not arrived.
    io_result<bool> arrive_and_wait_blocking(time_point deadline = never) noexcept {
        return block_on(arrive_and_wait(), deadline);
    }

private:
    const std::size_t participants_;
    std::size_t arrived_ = 0;  // Of this round: those in `waiting_`.
    shared_waiters waiting_{lock_};
    spin_lock lock_;  // Of all above; goes first.
};

}  // namespace gyre
