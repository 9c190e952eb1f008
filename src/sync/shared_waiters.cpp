// SPDX-License-Identifier: BSL-1.0
//
// Waiting and waking between loops: see include/gyre/sync/shared_waiters.hpp.
#include <gyre/sync/shared_waiters.hpp>

#include <utility>

namespace gyre {

// Once it is not in the queue the executor has it, and keeps it, since this is its own loop's thread.
shared_waiter::wait_state shared_waiter::abandon() noexcept {
    const bool was_away = std::exchange(away_, false);
    const bool was_waiting = was_away && leave_queue();
    if (will_look_) {
        const std::lock_guard hold{queue_->lock_};
        look();
    }
    if (!was_away) return wait_state::none;
    if (!was_waiting) env_->executor.retract(*this);
    env_->chain->leave();
    if (was_waiting) return wait_state::waiting;
    return outcome_ ? wait_state::none : wait_state::woken;
}

// Whether it was still there; false also of one that has never waited.
bool shared_waiter::leave_queue() noexcept {
    if (queue_ == nullptr || handed_over_.load(std::memory_order_acquire)) return false;
    const std::lock_guard hold{queue_->lock_};
    if (!linked()) return false;
    unlink();
    withdraw();
    return true;
}

void shared_waiter::will_look() noexcept {
    will_look_ = true;
    ++queue_->to_look_;
}

void shared_waiter::will_look(shared_waiters& queue) noexcept {
    queue_ = &queue;
    will_look();
}

void shared_waiter::look() noexcept {
    if (std::exchange(will_look_, false)) --queue_->to_look_;
}

// A thread that blocks has no loop, and no turn to share.
bool shared_waiter::go_on(std::coroutine_handle<> handle, const environment& given,
                          error outcome) noexcept {
    outcome_ = outcome;
    if (given.loop == nullptr || given.loop->spend()) return false;
    handle_ = handle;
    env_ = &given;
    away_ = true;
    given.executor.post(*this);
    return true;
}

void shared_waiter::wait_in(shared_waiters& queue, std::coroutine_handle<> handle,
                            const environment& given) noexcept {
    handle_ = handle;
    env_ = &given;
    queue_ = &queue;
    away_ = true;
    given.chain->enter(*this);
    queue.queue_.push_back(*this);
}

void shared_waiter::request(stop_level level) noexcept {
    if (level < stop_level::stop) return;
    if (!leave_queue()) return;  // It was woken, and is on its way.
    outcome_ = errc::canceled;
    handed_over_.store(true, std::memory_order_relaxed);  // Read by this thread only.
    env_->executor.post(*this);
}

sleeper* shared_waiter::end(error outcome) noexcept {
    outcome_ = outcome;
    unlink();
    handed_over_.store(true, std::memory_order_release);
    if (then_ == once_woken::looks && !outcome) will_look();
    return env_->executor.enqueue(*this);
}

void shared_waiter::go_on_there(work& item) noexcept {
    auto& self = static_cast<shared_waiter&>(item);
    self.away_ = false;
    self.env_->chain->leave();
    gyre::resume(self.handle_);
}

// Under one hold of the lock: between two, one that was not told yet might be stopped, though what it
// waited for has come.
void shared_waiters::wake_all(std::unique_lock<spin_lock>& hold, error outcome) noexcept {
    hand_over_each(hold, [this, outcome](wake_list& woken) {
        if (queue_.empty()) return false;
        wake_one(woken, outcome);
        return true;
    });
}

}  // namespace gyre
