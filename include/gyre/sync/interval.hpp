// SPDX-License-Identifier: BSL-1.0
//
// Ticks at fixed points in time, and what becomes of those that came while no caller waited.
//
// A loop over `sleep_for` drifts by what its body takes. An interval knows when the next tick is due and
// sleeps until then; a body that takes longer than a period says by the policy what it wants to catch up on.
#pragma once

#include <gyre/base/check.hpp>
#include <gyre/base/time.hpp>
#include <gyre/sync/sleep.hpp>

#include <optional>

namespace gyre {

/// What becomes of ticks that were missed: those that are due by the time at which the one before them is
/// taken.
enum class missed_ticks : std::uint8_t {
    burst,  ///< They follow at once, one by one, until the interval has caught up.
    delay,  ///< They are dropped; the next one is a whole period after the one that was late.
    skip    ///< They are dropped; the next one is the first to come of the points that were fixed.
};

/// Ticks every so often. One coroutine at a time waits for them, on any loop. Moves while none does.
class interval {
public:
    /// The first tick is one period after it is first waited for.
    ///
    /// @param  period  Longer than zero.
    explicit interval(duration period, missed_ticks missed = missed_ticks::burst) noexcept
        : interval{never, period, missed} {}

    /// The first tick is at `first`, which may have passed; of `never`, as above.
    interval(time_point first, duration period, missed_ticks missed = missed_ticks::burst) noexcept
        : next_{first}, period_{period}, missed_{missed} {
        expects(period > duration::zero(), "an interval has a period");
    }

    class [[nodiscard]] tick_awaiter final {
    public:
        explicit tick_awaiter(interval& of) noexcept : of_{&of} {}

        [[nodiscard]] bool await_ready() const noexcept { return false; }
        [[nodiscard]] bool await_suspend(std::coroutine_handle<> handle,
                                         const environment* given) noexcept {
            on_ = given->loop;
            if (of_->next_ == never) of_->next_ = deadline_after(on_->read_clock(), of_->period_);
            sleep_.emplace(of_->next_);
            return sleep_->await_suspend(handle, given);
        }
        io_result<time_point> await_resume() noexcept {
            const io_result<> slept = sleep_->await_resume();
            if (!slept.ok()) return slept.error();
            return of_->take(on_->read_clock());
        }

    private:
        interval* of_;
        loop* on_ = nullptr;
        std::optional<sleep_awaiter> sleep_;
    };

    /// Waits for the next tick.
    ///
    /// @return When it was due.
    ///
    /// Errors:        none but cancellation.
    /// Cancellation:  `errc::canceled`; the tick is still to come.
    /// Threads:       resumes on the caller's executor.
    /// Cost:          as `sleep_until`.
    [[nodiscard]] tick_awaiter tick() noexcept { return tick_awaiter{*this}; }

    /// The next tick is one period after it is next waited for.
    void reset() noexcept { next_ = never; }

    [[nodiscard]] duration period() const noexcept { return period_; }

private:
    [[nodiscard]] time_point take(time_point now) noexcept;

    time_point next_;  // `never` until it is waited for.
    duration period_;
    missed_ticks missed_;
};

}  // namespace gyre
