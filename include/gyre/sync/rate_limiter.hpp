// SPDX-License-Identifier: BSL-1.0
//
// So much in so much time, and a burst of it at once: a bucket that fills with tokens.
//
// A semaphore bounds what goes on at the same time; this bounds what is begun per second: requests to a
// service that allows a hundred, bytes on a link that others share. The count is exact at any rate:
// fractions of a token are kept, and nothing runs while no caller waits.
#pragma once

#include <gyre/coro/environment.hpp>
#include <gyre/sync/token_bucket.hpp>
#include <gyre/sync/waiters.hpp>

#include <cstdint>

namespace gyre {

/// First come, first served: no caller overtakes a waiter, even one that wants less. On one loop. Must
/// outlive its waiters. Does not move.
class rate_limiter : private timer {
public:
    /// Begins full.
    ///
    /// @param  on     The loop whose time counts. Borrowed.
    /// @param  limit  As `token_rate` wants it.
    rate_limiter(loop& on, const rate_limit& limit) noexcept;
    rate_limiter(const rate_limiter&) = delete;
    rate_limiter& operator=(const rate_limiter&) = delete;
    ~rate_limiter();

    class acquire_awaiter final : public waiter {
    public:
        acquire_awaiter(rate_limiter& of, std::uint64_t tokens) noexcept
            : waiter{"tokens"}, of_{of}, tokens_{tokens} {}
        acquire_awaiter(acquire_awaiter&&) noexcept = default;
        ~acquire_awaiter();

        void request(stop_level level) noexcept override;

        [[nodiscard]] bool await_suspend(std::coroutine_handle<> handle,
                                         const environment* given) noexcept;
        io_result<> await_resume() const noexcept { return outcome(); }

    private:
        friend class rate_limiter;

        rate_limiter& of_;
        std::uint64_t tokens_;
    };

    /// Takes `tokens`, waiting for them if need be, and for those who came before.
    ///
    /// Errors:        `errc::limit_exceeded` if they are more than the bucket holds.
    /// Cancellation:  `errc::canceled`; none was taken.
    /// Threads:       the loop of the limiter.
    /// Cost:          no allocation; a reading of the clock, and one entry in the loop's heap for all
    ///                who wait.
    [[nodiscard]] acquire_awaiter acquire(std::uint64_t tokens = 1) noexcept {
        return {*this, tokens};
    }

    /// Takes `tokens` if there are so many now and no coroutine waits.
    [[nodiscard]] bool try_acquire(std::uint64_t tokens = 1) noexcept;

    /// Tokens that it holds at most.
    [[nodiscard]] std::uint64_t burst() const noexcept { return rate_.burst(); }

    /// Whole tokens that are there now.
    [[nodiscard]] std::uint64_t available() noexcept;

private:
    void serve() noexcept;

    loop& on_;
    const token_rate rate_;
    token_bucket bucket_;
    waiters waiting_;  // Invariant: while there are any, the timer is armed for the first.
};

}  // namespace gyre
