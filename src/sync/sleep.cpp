// SPDX-License-Identifier: BSL-1.0
//
// Sleeping: see include/gyre/sync/sleep.hpp.
#include <gyre/sync/sleep.hpp>

namespace gyre {

sleep_awaiter::~sleep_awaiter() {
    if (!waiting_) return;
    back_.env().loop->disarm(*this);
    back_.env().chain->leave();
}

bool sleep_awaiter::await_suspend(std::coroutine_handle<> handle,
                                  const environment* given) noexcept {
    back_.begin(handle, *given);
    if (given->chain->stopping()) {
        outcome_ = errc::canceled;
        if (given->loop->spend()) return false;
        back_.post();
        return true;
    }
    const time_point deadline = relative_ && wait_ > duration::zero()
                                    ? deadline_after(given->loop->read_clock(), wait_)
                                    : until_;
    if (deadline <= given->loop->now()) {
        back_.post();
        return true;
    }
    waiting_ = true;
    given->chain->enter(*this);
    given->loop->arm(*this, deadline);
    return true;
}

void sleep_awaiter::request(stop_level level) noexcept {
    if (level < stop_level::stop) return;
    back_.env().loop->disarm(*this);
    end(errc::canceled);
}

void sleep_awaiter::end(error outcome) noexcept {
    outcome_ = outcome;
    waiting_ = false;
    back_.env().chain->leave();
    back_.post();
}

void sleep_awaiter::on_time(timer& it) noexcept { static_cast<sleep_awaiter&>(it).end({}); }

}  // namespace gyre
