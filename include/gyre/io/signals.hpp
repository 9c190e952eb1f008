// SPDX-License-Identifier: BSL-1.0
//
// Signals as something to await.
//
// run.hpp uses one to end a program in two steps; programs that reload on SIGHUP use their own.
#pragma once

#include <gyre/base/time.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/runtime/signal_subscription.hpp>
#include <gyre/runtime/submit.hpp>

#include <initializer_list>
#include <utility>

namespace gyre {

/// A set of signals that are delivered here instead of doing what they do by default. Moves, also while it
/// is waited for; if it is destroyed then, the wait ends with `errc::canceled`.
class signal_set {
public:
    signal_set() noexcept = default;

    /// Subscribes; outside of coroutines too, so that no signal is missed before the loop runs.
    ///
    /// @param  on       The loop it will be waited for on.
    /// @param  signals  Such as `{SIGHUP}`.
    /// Errors:          `errc::invalid_argument`, `errc::limit_exceeded` past 32 sets,
    ///                  `errc::not_supported` on a machine of a world.
    [[nodiscard]] static io_result<signal_set> open(io_context& on,
                                                    std::initializer_list<int> signals);

    /// Waits for the next one. No other wait would hear it, so one that the kernel has no memory for is
    /// begun again, each tenth of a second.
    ///
    /// @return Its number. A signal delivered twice before it is waited for may be reported once.
    ///
    /// Errors:        `errc::closed` of a set that is not open, or that a forked child could have no
    ///                descriptor for: signals do there what they did before the set was opened.
    /// Cancellation:  `errc::canceled`; no signal is lost.
    /// Threads:       the loop of the set; signals may be delivered to any thread.
    /// Cost:          one frame.
    [[nodiscard]] task<io_result<int>> wait() { return wait_for(subscription_.view()); }

    /// From the second delivery on the process ends at once, with status 128 + signal, even if its
    /// loop is stuck.
    ///
    /// @param  gap  What comes sooner after the first delivery does not end it: such as a signal that was
    ///              sent to the process and to its group.
    void exit_on_second(duration gap = {}) noexcept { subscription_.exit_on_second(gap); }

private:
    [[nodiscard]] static task<io_result<int>> wait_for(signal_subscription::delivery from);

    signal_subscription subscription_;
};

}  // namespace gyre
