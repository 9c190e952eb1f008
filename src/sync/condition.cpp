// SPDX-License-Identifier: BSL-1.0
//
// The wait of include/gyre/sync/condition.hpp.
#include <gyre/sync/condition.hpp>

#include <utility>

namespace gyre {

// Taking the lock again ignores stops: a coroutine that waited under a lock goes on under it.
class condition::relock final : public semaphore::permit_waiter {
public:
    explicit relock(semaphore& lock) noexcept : permit_waiter{"mutex", lock, ignores_stop} {}

    void await_resume() const noexcept {}
};

void condition::notify_one() noexcept {
    if (waiting_.empty()) return;
    static_cast<notification&>(waiting_.front()).alone_ = true;
    waiting_.wake_one();
}

task<io_result<>> condition::wait(mutex::guard& held) {
    mutex* const lock = held.held_;
    expects(lock != nullptr, "a condition is waited for under its lock");

    notification until_notified{*this};
    held.unlock();
    const io_result<> notified = co_await until_notified;
    relock again{lock->free_};
    co_await again;
    until_notified.arrive();
    held = mutex::guard{*lock};
    co_return notified;
}

}  // namespace gyre
