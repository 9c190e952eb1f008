// SPDX-License-Identifier: BSL-1.0
//
// A number of permits: how many may do something at the same time.
#pragma once

#include <gyre/sync/permits.hpp>
#include <gyre/sync/waiters.hpp>

#include <cstddef>

namespace gyre {

/// First come, first served: no caller overtakes a waiter, even where permits are left, so one that wants
/// many is not starved by those that want few. On one loop or one strand. Must outlive its waiters and
/// permits.
class semaphore {
public:
    using permits = held_permits<semaphore>;

    explicit semaphore(std::size_t count) noexcept : permits_{count} {}

    /// Waits for a permit; what it yields then is up to the derived class.
    class permit_waiter : public waiter {
    public:
        permit_waiter(const char* name, semaphore& of, stop_level ends_at,
                      std::size_t count = 1) noexcept
            : waiter{name, ends_at}, of_{of}, count_{count} {}
        permit_waiter(permit_waiter&&) noexcept = default;

        [[nodiscard]] bool await_suspend(std::coroutine_handle<> handle,
                                         const environment* given) noexcept {
            if (!stopped_before(*given) && of_.try_acquire(count_)) return go_on(handle, *given);
            return wait_in(of_.waiting_, handle, *given);
        }

        // Those behind may be content with what is left.
        void request(stop_level level) noexcept override {
            waiter::request(level);
            of_.serve();
        }

    protected:
        ~permit_waiter() {
            const wait_state was = abandon();
            if (was == wait_state::waiting) of_.serve();
            if (was == wait_state::woken) of_.release(count_);
        }

        /// What was waited for. @pre  no error.
        [[nodiscard]] permits take() const noexcept { return {of_, count_}; }

    private:
        friend class semaphore;

        semaphore& of_;
        std::size_t count_;
    };

    class acquire_awaiter final : public permit_waiter {
    public:
        acquire_awaiter(semaphore& of, stop_level ends_at) noexcept
            : permit_waiter{"semaphore", of, ends_at} {}

        io_result<> await_resume() const noexcept { return outcome(); }
    };

    class acquire_permits_awaiter final : public permit_waiter {
    public:
        acquire_permits_awaiter(semaphore& of, std::size_t count) noexcept
            : permit_waiter{"semaphore", of, stop_level::stop, count} {}

        io_result<permits> await_resume() const noexcept {
            if (outcome()) return outcome();
            return take();
        }
    };

    /// Takes `count` permits that give themselves back, waiting for them if need be, all at once.
    ///
    /// @param  count  More than there ever are would wait for ever.
    /// @return The permits; none unless ok.
    ///
    /// Errors:        none but cancellation.
    /// Cancellation:  `errc::canceled`, without a permit.
    /// Threads:       the loop or strand of the semaphore.
    /// Cost:          no allocation; a few ns if there are enough.
    [[nodiscard]] acquire_permits_awaiter acquire_permits(std::size_t count = 1) noexcept {
        return {*this, count};
    }

    /// Takes them if there are enough and no coroutine waits; none otherwise.
    [[nodiscard]] permits try_acquire_permits(std::size_t count = 1) noexcept {
        return try_acquire(count) ? permits{*this, count} : permits{};
    }

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

    /// Takes `count` permits if there are as many and no coroutine waits.
    [[nodiscard]] bool try_acquire(std::size_t count = 1) noexcept {
        if (permits_ < count || !waiting_.empty()) return false;
        permits_ -= count;
        return true;
    }

    /// Gives `count` back: to the longest waiters if there are any.
    void release(std::size_t count = 1) noexcept {
        permits_ += count;
        serve();
    }

    [[nodiscard]] std::size_t available() const noexcept { return permits_; }

private:
    void serve() noexcept {
        while (!waiting_.empty()) {
            const std::size_t wanted = static_cast<permit_waiter&>(waiting_.front()).count_;
            if (wanted > permits_) return;
            permits_ -= wanted;
            waiting_.wake_one();
        }
    }

    waiters waiting_;
    std::size_t permits_;  // Invariant: fewer than the first of `waiting_` wants, if there is one.
};

}  // namespace gyre
