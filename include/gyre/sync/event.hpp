// SPDX-License-Identifier: BSL-1.0
//
// A flag that coroutines can wait for.
//
// The simplest user of waiters.hpp, and the one to read first.
#pragma once

#include <gyre/sync/waiters.hpp>

namespace gyre {

/// Set or not; stays set until `reset`. On one loop or one strand. Must outlive its waiters.
class event {
public:
    class wait_awaiter final : public waiter {
    public:
        explicit wait_awaiter(event& on) noexcept : waiter{"event"}, on_{on} {}

        [[nodiscard]] bool await_suspend(std::coroutine_handle<> handle,
                                         const environment* given) noexcept {
            if (on_.set_ && !stopped_before(*given)) return go_on(handle, *given);
            return wait_in(on_.waiting_, handle, *given);
        }
        io_result<> await_resume() const noexcept { return outcome(); }

    private:
        event& on_;
    };

    /// Releases all waiters; later waits pass until `reset`.
    void set() noexcept {
        set_ = true;
        waiting_.wake_all();
    }
    void reset() noexcept { set_ = false; }
    [[nodiscard]] bool is_set() const noexcept { return set_; }

    /// Waits until it is set.
    ///
    /// Errors:        none but cancellation.
    /// Cancellation:  `errc::canceled`.
    /// Threads:       the loop or strand of the event.
    /// Cost:          no allocation; a few ns if set.
    [[nodiscard]] wait_awaiter wait() noexcept { return wait_awaiter{*this}; }

private:
    waiters waiting_;
    bool set_ = false;
};

}  // namespace gyre
