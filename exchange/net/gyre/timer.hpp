// SPDX-License-Identifier: BSL-1.0
//
// A deadline of the seam on a gyre loop: one coroutine waits for it, others push it back.
//
// gyre's own sleeps know their moment when they begin. A session's liveness is one moment that moves
// with every packet, so what moves must be a store, and must not wake a coroutine.
#pragma once

#include <gyre/runtime/io_context.hpp>
#include <gyre/sync/waiters.hpp>

namespace exchange {

/// See `executor_traits` for the contract.
class gyre_timer : private gyre::timer {
public:
    explicit gyre_timer(gyre::io_context& on) noexcept : timer{&on_time}, on_{on} {}
    gyre_timer(const gyre_timer&) = delete;
    gyre_timer& operator=(const gyre_timer&) = delete;
    ~gyre_timer() { on_.disarm(*this); }

    class wait_awaiter final : public gyre::waiter {
    public:
        explicit wait_awaiter(gyre_timer& of) noexcept : waiter{"timer"}, of_{of} {}

        [[nodiscard]] bool await_suspend(std::coroutine_handle<> handle,
                                         const gyre::environment* given) noexcept {
            gyre::expects(of_.waiting_.empty(), "one coroutine waits for a timer at a time");
            if (of_.due_ <= of_.on_.now() && !stopped_before(*given)) return go_on(handle, *given);
            if (of_.due_ != gyre::never) of_.on_.arm(of_, of_.due_);
            return wait_in(of_.waiting_, handle, *given);
        }
        gyre::io_result<> await_resume() const noexcept { return outcome(); }

    private:
        gyre_timer& of_;
    };

    void expire_at(gyre::time_point deadline) noexcept {
        due_ = deadline;
        if (waiting_.empty()) return;
        if (deadline == gyre::never) {
            on_.disarm(*this);
        } else {
            on_.arm(*this, deadline);
        }
    }
    [[nodiscard]] wait_awaiter wait() noexcept { return wait_awaiter{*this}; }
    [[nodiscard]] wait_awaiter wait_until(gyre::time_point deadline) noexcept {
        expire_at(deadline);
        return wait();
    }
    void cancel() noexcept {
        on_.disarm(*this);
        waiting_.wake_all(gyre::errc::canceled);
    }
    [[nodiscard]] gyre::time_point deadline() const noexcept { return due_; }

private:
    static void on_time(timer& it) noexcept { static_cast<gyre_timer&>(it).waiting_.wake_all(); }

    gyre::io_context& on_;
    gyre::waiters waiting_;
    gyre::time_point due_ = gyre::never;
};

}  // namespace exchange
