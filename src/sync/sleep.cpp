// SPDX-License-Identifier: BSL-1.0
//
// Sleeping: see include/gyre/sync/sleep.hpp.
#include <gyre/sync/sleep.hpp>

namespace gyre {

sleep_awaiter::~sleep_awaiter() {
    if (progress_ == progress::waiting) {
        env_->loop->disarm(*this);
        env_->chain->leave();
    } else if (progress_ == progress::posted) {
        env_->loop->retract(*this);
    }
}

bool sleep_awaiter::await_suspend(std::coroutine_handle<> handle,
                                  const environment* given) noexcept {
    env_ = given;
    handle_ = handle;
    if (given->chain->stopping()) {
        outcome_ = errc::canceled;
        progress_ = progress::over;
        if (given->loop->spend()) return false;
        progress_ = progress::posted;
        given->executor.post(*this);
        return true;
    }
    const time_point deadline = relative_ && wait_ > duration::zero()
                                    ? deadline_after(given->loop->read_clock(), wait_)
                                    : until_;
    if (deadline <= given->loop->now()) {
        progress_ = progress::posted;
        given->executor.post(*this);
        return true;
    }
    progress_ = progress::waiting;
    given->chain->enter(*this);
    given->loop->arm(*this, deadline);
    return true;
}

void sleep_awaiter::request(stop_level level) noexcept {
    if (level < stop_level::stop) return;
    env_->loop->disarm(*this);
    end(errc::canceled);
}

void sleep_awaiter::end(error outcome) noexcept {
    outcome_ = outcome;
    env_->chain->leave();
    progress_ = progress::posted;
    env_->executor.post(*this);
}

void sleep_awaiter::on_time(timer& it) noexcept { static_cast<sleep_awaiter&>(it).end({}); }

void sleep_awaiter::wake_up(work& item) noexcept {
    auto& self = static_cast<sleep_awaiter&>(item);
    self.progress_ = progress::over;
    gyre::resume(self.handle_);
}

}  // namespace gyre
