// SPDX-License-Identifier: BSL-1.0
//
// Waiting and waking: see include/gyre/sync/waiters.hpp.
#include <gyre/sync/waiters.hpp>

namespace gyre {
namespace {

constexpr const char* used_elsewhere =
    "what is waited for (an event, a lock, a channel, ...) is used on the loop of the coroutines "
    "that "
    "wait for it; from elsewhere, post() to that loop";

}  // namespace

waiter::wait_state waiter::abandon() noexcept {
    if (!linked()) {
        return back_.posted() && !outcome_ ? wait_state::woken : wait_state::none;
    }
    list_link<waiters>::unlink();
    back_.env().chain->leave();
    return wait_state::waiting;
}

bool waiter::stopped_before(const environment& given) noexcept {
    if (given.chain->level() < ends_at_) return false;
    outcome_ = errc::canceled;
    return true;
}

bool waiter::go_on(std::coroutine_handle<> handle, const environment& given,
                   error outcome) noexcept {
    outcome_ = outcome;
    if (given.loop->spend()) return false;
    back_.post(handle, given);
    return true;
}

bool waiter::wait_in(waiters& queue, std::coroutine_handle<> handle,
                     const environment& given) noexcept {
    if (stopped_before(given)) return go_on(handle, given, outcome_);
    expects(queue.empty() || queue.front().back_.env().loop == given.loop, used_elsewhere);
    back_.begin(handle, given);
    queue.queue_.push_back(*this);
    given.chain->enter(*this);
    return true;
}

void waiter::request(stop_level level) noexcept {
    if (level >= ends_at_) end(errc::canceled);
}

void waiter::end(error outcome) noexcept {
    outcome_ = outcome;
    list_link<waiters>::unlink();
    back_.env().chain->leave();
    back_.post();
}

bool waiters::wake_one(error outcome) noexcept {
    if (empty()) return false;
    expects(front().back_.env().loop->may_touch_here(), used_elsewhere);
    front().end(outcome);
    return true;
}

void waiters::wake_all(error outcome) noexcept {
    while (wake_one(outcome)) {
    }
}

}  // namespace gyre
