// SPDX-License-Identifier: BSL-1.0
//
// A moment to wait for that others may move meanwhile.
//
// A sleep ends when it was told to. Where the moment depends on what happens before (a heartbeat that each
// message postpones, an auction that a late bid extends) those who wait for it should not have to be woken
// to hear of a new one. with_idle_timeout (timeout.hpp) is this as a limit on something else.
#pragma once

#include <gyre/base/time.hpp>
#include <gyre/coro/environment.hpp>
#include <gyre/sync/waiters.hpp>

namespace gyre {

/// A moment of one loop's time; `never` if nothing else is said. On that loop. Must outlive its waiters.
/// Does not move.
class deadline : private timer {
public:
    explicit deadline(loop& on, time_point at = never) noexcept
        : timer{[](timer& it) noexcept { static_cast<deadline&>(it).waiting_.wake_all(); }},
          on_{on},
          at_{at} {}
    deadline(const deadline&) = delete;
    deadline& operator=(const deadline&) = delete;
    ~deadline() {
        if (timer::armed()) on_.disarm(*this);
    }

    /// Moves it to `at`, also for those who wait already: they go on waiting if it was about to pass, and
    /// end soon if it has. Cost: a store, if it is later than before.
    void expires_at(time_point at) noexcept {
        at_ = at;
        if (!waiting_.empty()) arm();
    }

    /// The same, counted from now: a reading of the clock besides.
    void expires_after(duration wait) noexcept {
        expires_at(deadline_after(on_.read_clock(), wait));
    }

    /// When it is; the time that `sleep_until` and `with_deadline` take as well.
    [[nodiscard]] time_point at() const noexcept { return at_; }
    [[nodiscard]] bool passed() const noexcept { return at_ <= on_.read_clock(); }

    class wait_awaiter final : public waiter {
    public:
        explicit wait_awaiter(deadline& of) noexcept : waiter{"a deadline"}, of_{of} {}

        [[nodiscard]] bool await_suspend(std::coroutine_handle<> handle,
                                         const environment* given) noexcept {
            expects(given->loop == &of_.on_, "a deadline is waited for on its own loop");
            if (of_.passed() && !stopped_before(*given)) return go_on(handle, *given);
            const bool suspended = wait_in(of_.waiting_, handle, *given);
            if (!of_.waiting_.empty()) of_.arm();
            return suspended;
        }
        io_result<> await_resume() const noexcept { return outcome(); }

    private:
        deadline& of_;
    };

    /// Waits until it has passed.
    ///
    /// Errors:        none but cancellation.
    /// Cancellation:  `errc::canceled`.
    /// Threads:       the loop of the deadline.
    /// Cost:          no allocation; a reading of the clock, and one entry in the loop's heap for all.
    [[nodiscard]] wait_awaiter wait() noexcept { return wait_awaiter{*this}; }

private:
    void arm() noexcept {
        if (at_ != never) return on_.arm(*this, at_);
        on_.disarm(*this);
    }

    loop& on_;
    time_point at_;
    waiters waiting_;  // Invariant: while there are any, the timer is armed for `at_`.
};

}  // namespace gyre
