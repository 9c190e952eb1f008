// SPDX-License-Identifier: BSL-1.0
//
// Everything ambient a coroutine may use, handed down by every co_await.
//
// There is no global and no thread-local to look at: whoever suspends is given a pointer to this
// record (`await_suspend(handle, environment const*)`, the shape of the IoAwaitable protocol,
// P4003) and finds there where to resume, what may stop it, and the loop that keeps time.
#pragma once

#include <gyre/base/intrusive.hpp>
#include <gyre/base/time.hpp>
#include <gyre/coro/executor.hpp>
#include <gyre/coro/stop.hpp>
#include <gyre/coro/timer.hpp>

#include <cstddef>

namespace gyre {

class root;

/// What every coroutine on a loop can count on: its clock, its timers, its roots, its fair share.
/// `io_context` is the one implementation; the simulator's loops are io_contexts too.
class loop {
public:
    /// The time at which the current turn began, refreshed every 32 items: cheap, slightly old.
    [[nodiscard]] time_point now() const noexcept { return now_; }

    /// Accounts for one completion that did not go through the ready queue. False when this turn's
    /// share is used up: the caller then posts itself instead of going on at once.
    [[nodiscard]] bool spend() noexcept { return --budget_ > 0; }

    /// Makes `item` ready. Any thread.
    virtual void post(work& item) noexcept = 0;

    /// Takes back an item that was posted on this thread and has not run. Linear; for destructors.
    virtual void retract(work& item) noexcept = 0;

    /// Fires `t` at `deadline`, which may have passed. Idle or armed; re-arming to a later moment
    /// costs a store. The loop's thread only.
    virtual void arm(timer& t, time_point deadline) noexcept = 0;

    /// After this `t` will not fire. Idle timers are left alone. The loop's thread only.
    virtual void disarm(timer& t) noexcept = 0;

    /// The coroutines that nothing awaits; `launch` adds them. The loop's thread only.
    [[nodiscard]] list<root>& roots() noexcept { return roots_; }

protected:
    loop() noexcept = default;
    ~loop() = default;
    loop(const loop&) = delete;
    loop& operator=(const loop&) = delete;

    time_point now_{};
    int budget_ = 0;

private:
    list<root> roots_;
};

/// Lives at least as long as every coroutine that was given a pointer to it.
struct environment {
    executor_ref executor;        ///< Where the coroutine is resumed.
    gyre::loop* loop = nullptr;   ///< Clock, timers, operations.
    stop_chain* chain = nullptr;  ///< What can stop the coroutine.
};

}  // namespace gyre
