// SPDX-License-Identifier: BSL-1.0
//
// Mutual exclusion across co_awaits.
//
// Between two awaits a coroutine is alone on its executor and needs no lock; this is for what must
// stay untouched *across* one. The lock is handed over, in the order of asking.
#pragma once

#include <gyre/base/check.hpp>
#include <gyre/sync/semaphore.hpp>

#include <utility>

namespace gyre {

/// On one loop or one strand. Must outlive its guards and waiters.
class mutex {
public:
    /// Holds the lock; releases it when destroyed. The null state holds nothing.
    class guard {
    public:
        guard() noexcept = default;
        explicit guard(mutex& held) noexcept : held_{&held} {}
        guard(guard&& other) noexcept : held_{std::exchange(other.held_, nullptr)} {}
        guard& operator=(guard&& other) noexcept {
            guard taken{std::move(other)};
            std::swap(held_, taken.held_);
            return *this;
        }
        ~guard() { unlock(); }

        [[nodiscard]] bool owns() const noexcept { return held_ != nullptr; }
        void unlock() noexcept {
            if (held_ != nullptr) std::exchange(held_, nullptr)->free_.release();
        }

    private:
        friend class condition;

        mutex* held_ = nullptr;
    };

    class lock_awaiter final : public semaphore::permit_waiter {
    public:
        explicit lock_awaiter(mutex& of) noexcept
            : permit_waiter{"mutex", of.free_, stop_level::stop}, of_{of} {}

        io_result<guard> await_resume() const noexcept {
            if (outcome()) return outcome();
            return guard{of_};
        }

    private:
        mutex& of_;
    };

    /// Waits for the lock.
    ///
    /// @return A guard; empty unless ok.
    ///
    /// Errors:        none but cancellation.
    /// Cancellation:  `errc::canceled`, without the lock.
    /// Threads:       the loop or strand of the mutex.
    /// Cost:          no allocation; a few ns if it is free.
    [[nodiscard]] lock_awaiter lock() noexcept { return lock_awaiter{*this}; }

    /// The lock if it is free; an empty guard otherwise.
    [[nodiscard]] guard try_lock() noexcept { return free_.try_acquire() ? guard{*this} : guard{}; }

private:
    friend class condition;

    semaphore free_{1};
};

}  // namespace gyre
