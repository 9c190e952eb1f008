// SPDX-License-Identifier: BSL-1.0
//
// Many signs that something has happened, told once when they have ended.
//
// A configuration file that is written in ten pieces should be read once, after the last. Each sign
// postpones the moment at which it is told of; a bound keeps signs that never end from postponing it for
// ever.
#pragma once

#include <gyre/base/check.hpp>
#include <gyre/base/time.hpp>
#include <gyre/coro/environment.hpp>
#include <gyre/sync/waiters.hpp>

#include <algorithm>

namespace gyre {

/// Signs on one loop. Must outlive its waiters. Does not move.
class debounce : private timer {
public:
    /// @param  on       The loop whose time counts. Borrowed.
    /// @param  quiet    How long there must be no sign before it is told.
    /// @param  at_most  How long after the first sign it is told in any case.
    debounce(loop& on, duration quiet, duration at_most = duration::max()) noexcept
        : timer{[](timer& it) noexcept { static_cast<debounce&>(it).due(); }},
          on_{on},
          quiet_{quiet},
          at_most_{at_most} {}
    debounce(const debounce&) = delete;
    debounce& operator=(const debounce&) = delete;
    ~debounce() {
        if (timer::armed()) on_.disarm(*this);
    }

    /// A sign. Cost: a reading of the clock and a store.
    void touch() noexcept {
        const time_point now = on_.read_clock();
        if (!pending()) limit_ = deadline_after(now, at_most_);
        at_ = std::min(deadline_after(now, quiet_), limit_);
        if (!waiting_.empty()) on_.arm(*this, at_);
    }

    /// There was a sign that no caller has been told of.
    [[nodiscard]] bool pending() const noexcept { return at_ != never; }

    class wait_awaiter final : public waiter {
    public:
        explicit wait_awaiter(debounce& of) noexcept : waiter{"quiet"}, of_{of} {}
        wait_awaiter(wait_awaiter&&) noexcept = default;
        ~wait_awaiter() {
            // What this one alone was told of is told to the next.
            if (abandon() == wait_state::woken && alone_) of_.tell_again();
        }

        [[nodiscard]] bool await_suspend(std::coroutine_handle<> handle,
                                         const environment* given) noexcept {
            expects(given->loop == &of_.on_, "quiet is waited for on the loop of the signs");
            if (stopped_before(*given)) return go_on(handle, *given, errc::canceled);
            if (of_.at_ <= of_.on_.read_clock()) {
                of_.at_ = never;
                of_.on_.disarm(of_);  // A wait that was stopped leaves it armed.
                alone_ = true;
                return go_on(handle, *given);
            }
            if (of_.pending()) of_.on_.arm(of_, of_.at_);
            return wait_in(of_.waiting_, handle, *given);
        }
        io_result<> await_resume() const noexcept { return outcome(); }

    private:
        friend class debounce;

        debounce& of_;
        bool alone_ = false;
    };

    /// Waits until there was a sign and then none for a while. Each burst of signs is told once: to
    /// those who wait then, or else to the first who does.
    ///
    /// Errors:        none but cancellation.
    /// Cancellation:  `errc::canceled`; what was to be told is told the next time.
    /// Threads:       the loop of the signs.
    /// Cost:          no allocation; a reading of the clock, and an entry in the loop's heap.
    [[nodiscard]] wait_awaiter wait() noexcept { return wait_awaiter{*this}; }

private:
    void due() noexcept {
        if (waiting_.empty()) return;  // The next to wait finds that it has passed.
        at_ = never;
        static_cast<wait_awaiter&>(waiting_.front()).alone_ = waiting_.size() == 1;
        waiting_.wake_all();
    }

    // Together with the signs that have come since, if any have.
    void tell_again() noexcept {
        if (pending()) return;
        at_ = limit_ = on_.now();
        if (!waiting_.empty()) on_.arm(*this, at_);
    }

    loop& on_;
    const duration quiet_;
    const duration at_most_;
    time_point at_ = never;     // When the signs so far are told; `never` without any.
    time_point limit_ = never;  // The latest that `at_` may be.
    waiters waiting_;           // Invariant: while there are any, the timer is armed for `at_`.
};

}  // namespace gyre
