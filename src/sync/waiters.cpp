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

waiter::~waiter() {
    // Only a frame that is destroyed while it waits gets past the first line.
    if (progress_ == progress::idle || progress_ == progress::over) return;
    if (progress_ == progress::waiting) {
        list_link<waiters>::unlink();
        env_->chain->leave();
    } else {
        env_->loop->retract(*this);
    }
}

bool waiter::stopped_before(const environment& given) noexcept {
    if (given.chain->level() < ends_at_) return false;
    outcome_ = errc::canceled;
    return true;
}

bool waiter::go_on(std::coroutine_handle<> handle, const environment& given,
                   error outcome) noexcept {
    outcome_ = outcome;
    progress_ = progress::over;
    if (given.loop->spend()) return false;
    env_ = &given;
    handle_ = handle;
    progress_ = progress::posted;
    given.executor.post(*this);
    return true;
}

bool waiter::wait_in(waiters& queue, std::coroutine_handle<> handle,
                     const environment& given) noexcept {
    if (stopped_before(given)) return go_on(handle, given, outcome_);
    expects(queue.empty() || queue.front().env_->loop == given.loop, used_elsewhere);
    env_ = &given;
    handle_ = handle;
    progress_ = progress::waiting;
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
    env_->chain->leave();
    progress_ = progress::posted;
    env_->executor.post(*this);
}

void waiter::wake_up(work& item) noexcept {
    auto& self = static_cast<waiter&>(item);
    self.progress_ = progress::over;
    gyre::resume(self.handle_);
}

bool waiters::wake_one(error outcome) noexcept {
    if (empty()) return false;
    expects(front().env_->loop->may_touch_here(), used_elsewhere);
    front().end(outcome);
    return true;
}

void waiters::wake_all(error outcome) noexcept {
    while (wake_one(outcome)) {
    }
}

}  // namespace gyre
