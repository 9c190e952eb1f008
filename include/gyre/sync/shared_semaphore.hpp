// SPDX-License-Identifier: BSL-1.0
//
// A number of permits between loops: how many may do something at the same time, on whichever thread.
//
// What semaphore.hpp is on one loop; several permits may be taken at once, and give themselves back.
// shared_mutex.hpp and once.hpp are made of it.
#pragma once

#include <gyre/sync/blocked_thread.hpp>
#include <gyre/sync/permits.hpp>
#include <gyre/sync/shared_waiters.hpp>

#include <cstddef>
#include <mutex>
#include <utility>

namespace gyre {

/// First come, first served: no caller overtakes a waiter, even where permits are left, so one that wants
/// many is not starved by those that want few. Must outlive its waiters and permits.
///
/// Threads:  everything here is for any thread.
class shared_semaphore {
public:
    using permits = held_permits<shared_semaphore>;

    explicit shared_semaphore(std::size_t count) noexcept : free_{count} {}

    /// Waits for permits; what it yields then is up to the derived class.
    class permit_waiter : public shared_waiter {
    public:
        permit_waiter(const char* name, shared_semaphore& of, std::size_t count) noexcept
            : shared_waiter{name}, of_{of}, count_{count} {}
        permit_waiter(permit_waiter&&) noexcept = default;

        [[nodiscard]] bool await_suspend(std::coroutine_handle<> handle,
                                         const environment* given) noexcept {
            return wait_unless(of_.waiting_, handle, *given,
                               [this](wake_list&) { return of_.take(count_); });
        }

        // Those behind may be content with what is left.
        void request(stop_level level) noexcept override {
            shared_waiter::request(level);
            if (level == stop_level::stop) of_.serve();
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
        friend class shared_semaphore;

        shared_semaphore& of_;
        std::size_t count_;
    };

    class [[nodiscard]] acquire_awaiter final : public permit_waiter {
    public:
        acquire_awaiter(shared_semaphore& of, std::size_t count) noexcept
            : permit_waiter{"shared semaphore", of, count} {}

        io_result<permits> await_resume() const noexcept {
            if (outcome()) return outcome();
            return take();
        }
    };

    /// Takes `count` permits, waiting for them if need be, all at once.
    ///
    /// @param  count  More than there ever are would wait for ever.
    /// @return The permits; none unless ok.
    ///
    /// Errors:        none but cancellation.
    /// Cancellation:  `errc::canceled`, without a permit.
    /// Threads:       any; resumes on the caller's executor.
    /// Cost:          no allocation; tens of ns if there are enough.
    acquire_awaiter acquire(std::size_t count = 1) noexcept { return {*this, count}; }

    /// The same for a thread without a loop, which blocks.
    /// Errors:  `errc::timed_out` at `deadline`.
    io_result<permits> acquire_blocking(std::size_t count = 1,
                                        time_point deadline = never) noexcept {
        return block_on(acquire(count), deadline);
    }

    /// Takes them if there are enough and no caller waits; none otherwise.
    [[nodiscard]] permits try_acquire(std::size_t count = 1) noexcept {
        const std::lock_guard hold{lock_};
        return take(count) ? permits{*this, count} : permits{};
    }

    /// Adds permits, for those that wait first. Permits that were taken give themselves back.
    void release(std::size_t count = 1) noexcept { serve(count); }

    /// How many there are; at once out of date.
    [[nodiscard]] std::size_t available() const noexcept {
        const std::lock_guard hold{lock_};
        return free_;
    }

private:
    bool take(std::size_t count) noexcept {
        if (count > free_ || !waiting_.empty()) return false;
        free_ -= count;
        return true;
    }

    // The last of those that it wakes may destroy this.
    void serve(std::size_t returned = 0) noexcept {
        std::unique_lock hold{lock_};
        free_ += returned;
        hand_over_each(hold, [this](wake_list& woken) {
            if (waiting_.empty()) return false;
            const std::size_t wanted = static_cast<permit_waiter&>(waiting_.front()).count_;
            if (wanted > free_) return false;
            free_ -= wanted;
            waiting_.wake_one(woken);
            return true;
        });
    }

    std::size_t free_;
    shared_waiters waiting_{lock_};
    mutable spin_lock lock_;  // Of all above; goes first.
};

}  // namespace gyre
