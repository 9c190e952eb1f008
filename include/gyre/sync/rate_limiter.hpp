// SPDX-License-Identifier: BSL-1.0
//
// So much in so much time, and a burst of it at once: a bucket that fills with tokens.
//
// A semaphore bounds what goes on at the same time; this bounds what is begun per second: requests to a
// service that allows a hundred, bytes on a link that others share. The count is exact at any rate:
// fractions of a token are kept, and nothing runs while nobody waits.
#pragma once

#include <gyre/base/check.hpp>
#include <gyre/base/time.hpp>
#include <gyre/coro/environment.hpp>
#include <gyre/sync/waiters.hpp>

#include <cstdint>

namespace gyre {

/// `tokens` in each `per`, of which `burst` may be taken at once after a rest.
struct rate_limit {
    std::uint64_t tokens;
    duration per;
    std::uint64_t burst;
};

/// First come, first served: no caller overtakes a waiter, even one that wants less. On one loop. Must
/// outlive its waiters. Does not move.
class rate_limiter : private timer {
public:
    /// Begins full.
    ///
    /// @param  on     The loop whose time counts. Borrowed.
    /// @param  limit  Nothing in it is zero, and `burst` times `per` in nanoseconds fits into 63 bits: at
    ///                a second nine thousand million tokens.
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
    [[nodiscard]] std::uint64_t burst() const noexcept { return burst_; }

    /// Whole tokens that are there now.
    [[nodiscard]] std::uint64_t available() noexcept;

private:
    [[nodiscard]] bool take(std::uint64_t tokens) noexcept;
    void refill() noexcept;
    void serve() noexcept;

    loop& on_;
    // What the bucket holds is counted in units of which a nanosecond brings `gain_`, and a token is
    // `price_`: both whole numbers, so that nothing is rounded.
    const std::uint64_t gain_;
    const std::uint64_t price_;
    const std::uint64_t burst_;
    std::uint64_t credit_;  // Invariant: at most `burst_` times `price_`.
    time_point filled_;     // When `credit_` was right.
    waiters waiting_;       // Invariant: while there are any, the timer is armed for the first.
};

}  // namespace gyre
