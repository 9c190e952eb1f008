// SPDX-License-Identifier: BSL-1.0
//
// A number of permits: how many may do something at the same time.
#pragma once

#include <gyre/sync/waiters.hpp>

#include <cstddef>

namespace gyre {

/// First come, first served: no caller overtakes a waiter, even where permits are left. On one loop
/// or one strand. Must outlive its waiters.
class semaphore {
public:
    explicit semaphore(std::size_t permits) noexcept : permits_{permits} {}

    /// Waits for a permit; what it yields then is up to the derived class.
    class permit_waiter : public waiter {
    public:
        permit_waiter(const char* name, semaphore& of, stop_level ends_at) noexcept
            : waiter{name, ends_at}, of_{of} {}

        [[nodiscard]] bool await_suspend(std::coroutine_handle<> handle,
                                         const environment* given) noexcept {
            if (!stopped_before(*given) && of_.try_acquire()) return go_on(handle, *given);
            return wait_in(of_.waiting_, handle, *given);
        }

    private:
        semaphore& of_;
    };

    class acquire_awaiter final : public permit_waiter {
    public:
        acquire_awaiter(semaphore& of, stop_level ends_at) noexcept
            : permit_waiter{"semaphore", of, ends_at} {}

        io_result<> await_resume() const noexcept { return outcome(); }
    };

    /// Takes a permit, waiting for one if need be; it must be given back with `release`.
    ///
    /// Errors:        none but cancellation.
    /// Cancellation:  `errc::canceled`, without a permit.
    /// Threads:       the loop or strand of the semaphore.
    /// Cost:          no allocation; a few ns if there is one.
    [[nodiscard]] acquire_awaiter acquire() noexcept { return {*this, stop_level::stop}; }

    /// The same as intake: a drain ends it too.
    [[nodiscard]] acquire_awaiter acquire_for_intake() noexcept {
        return {*this, stop_level::drain};
    }

    /// Takes a permit if there is one and no coroutine waits.
    [[nodiscard]] bool try_acquire() noexcept {
        if (permits_ == 0 || !waiting_.empty()) return false;
        --permits_;
        return true;
    }

    /// Gives one back: to the longest waiter if there is one.
    void release() noexcept {
        if (!waiting_.wake_one()) ++permits_;
    }

    [[nodiscard]] std::size_t available() const noexcept { return permits_; }

private:
    waiters waiting_;
    std::size_t permits_;  // Invariant: 0 while `waiting_` is not empty.
};

}  // namespace gyre
