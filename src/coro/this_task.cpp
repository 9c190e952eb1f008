// SPDX-License-Identifier: BSL-1.0
//
// Waiting for a stop: see include/gyre/coro/this_task.hpp.
#include <gyre/coro/this_task.hpp>

namespace gyre {

stop_awaiter::~stop_awaiter() {
    if (waiting_) back_.env().chain->leave();
}

bool stop_awaiter::await_suspend(std::coroutine_handle<> handle,
                                 const environment* given) noexcept {
    back_.begin(handle, *given);
    if (given->chain->level() >= at_least_) {
        if (given->loop->spend()) return false;
        back_.post();
        return true;
    }
    waiting_ = true;
    given->chain->enter(*this);
    return true;
}

void stop_awaiter::request(stop_level level) noexcept {
    if (level < at_least_) return;
    waiting_ = false;
    back_.env().chain->leave();
    back_.post();
}

}  // namespace gyre
