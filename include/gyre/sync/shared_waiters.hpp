// SPDX-License-Identifier: BSL-1.0
//
// The queue in front of everything that coroutines of different loops, and plain threads, wait for.
//
// What waiters.hpp is on one loop, behind a lock that is held for a few instructions. What ends a wait
// does all of it under that lock: takes the waiter out, says how it ended, and puts it where its loop
// finds it. So there are two states and nothing in between: a waiter that is in the queue is its own loop's
// to stop or to destroy, and one that is not has been handed to its executor, which can be asked for it
// back. Only threads that sleep are woken later, without the lock. docs/decisions/0027-between-loops.md.
#pragma once

#include <gyre/base/check.hpp>
#include <gyre/base/error.hpp>
#include <gyre/base/intrusive.hpp>
#include <gyre/base/result.hpp>
#include <gyre/base/spin_lock.hpp>
#include <gyre/coro/awaitable.hpp>
#include <gyre/coro/resume.hpp>

#include <array>
#include <atomic>
#include <concepts>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace gyre {

class shared_waiters;

/// Loops and threads to be woken as soon as a lock is free. Declare it before the guard of the lock.
class wake_list {
public:
    wake_list() noexcept = default;
    wake_list(const wake_list&) = delete;
    wake_list& operator=(const wake_list&) = delete;
    ~wake_list() { wake(); }

    /// @pre  not full.
    void add(sleeper* one) noexcept {
        if (one != nullptr) sleepers_[count_++] = one;
    }
    [[nodiscard]] bool full() const noexcept { return count_ == sleepers_max; }

    /// Wakes them, without the lock.
    void wake() noexcept {
        for (std::size_t each = 0; each < count_; ++each) sleepers_[each]->wake_for_enqueued();
        count_ = 0;
    }

private:
    static constexpr std::size_t sleepers_max = 16;

    std::size_t count_ = 0;
    std::array<sleeper*, sleepers_max> sleepers_;  // Set up to `count_`.
};

/// Calls `hand_over(wake_list&)` until it returns false, all under the one lock in `hold`; then unlocks it
/// and wakes who sleeps. Each call ends one wait at most.
///
/// Afterwards the owner of the lock may be gone: the last one that was handed to may destroy it. So a call
/// that ends several waits does all else that it has to do before this returns.
///
/// Sleepers are kept on the stack, 16 in each call of itself: it is as deep as threads sleep.
template <class HandOver>
void hand_over_each(std::unique_lock<spin_lock>& hold, const HandOver& hand_over) noexcept {
    wake_list woken;
    while (!woken.full()) {
        if (!hand_over(woken)) return hold.unlock();
    }
    hand_over_each(hold, hand_over);
}

/// One coroutine, or blocked thread, in such a queue; awaiters derive from it, and call `abandon` in their
/// destructors: other threads may use what they hold until then.
class shared_waiter : public stop_target, public list_link<shared_waiters>, private work {
public:
    void request(stop_level level) noexcept override;
    [[nodiscard]] const char* waiting_for() const noexcept override { return name_; }

    [[nodiscard]] bool await_ready() const noexcept { return false; }

protected:
    /// What `await_resume` needs, unless there is an error.
    enum class once_woken : std::uint8_t {
        has_all,  ///< Nothing of the owner, which may be gone.
        looks     ///< The owner, which is to outlive it: `look` comes first.
    };

    /// @param  name  For people: "shared channel receive"; static storage.
    explicit shared_waiter(const char* name, once_woken then = once_woken::has_all) noexcept
        : work{&go_on_there}, name_{name}, then_{then} {}
    shared_waiter(shared_waiter&& other) noexcept : shared_waiter{other.name_, other.then_} {}
    ~shared_waiter() { expects(!away_, "an awaiter abandons its wait before what it holds goes"); }

    /// How far a wait had come when its frame was destroyed.
    enum class wait_state : std::uint8_t {
        none,     ///< It had not begun, was over, or was ended by a stop or an error.
        waiting,  ///< It was in the queue.
        woken     ///< It had what it waited for, but was not resumed.
    };

    /// The frame dies: afterwards no other thread knows of this one. With the lock free.
    wait_state abandon() noexcept;

    /// Nothing to wait for: goes on at once, or by a post when the turn's share is used up. With the lock
    /// free. The result is `await_suspend`'s.
    [[nodiscard]] bool go_on(std::coroutine_handle<> handle, const environment& given,
                             error outcome = {}) noexcept;

    /// Waits in `queue`, whose lock the caller holds, until woken or stopped. The caller's `await_suspend`
    /// returns true.
    void wait_in(shared_waiters& queue, std::coroutine_handle<> handle,
                 const environment& given) noexcept;

    /// `await_suspend` of most. `attempt(wake_list&)` is called under the lock of `queue`, unless the chain
    /// was stopped before: it returns false, or an empty optional, to wait; true, or the error, to go on.
    template <class Attempt>
    [[nodiscard]] bool wait_unless(shared_waiters& queue, std::coroutine_handle<> handle,
                                   const environment& given, const Attempt& attempt) noexcept;

    /// Nothing to wait for, but to look at before it has gone on. With the lock of `queue` held.
    void will_look(shared_waiters& queue) noexcept;

    /// In `await_resume` of those that look, with the lock held.
    void look() noexcept;

    [[nodiscard]] error outcome() const noexcept { return outcome_; }

private:
    friend class shared_waiters;

    /// A stop, or the end of its frame, takes it out of the queue. Under the lock.
    virtual void withdraw() noexcept {}

    [[nodiscard]] bool leave_queue() noexcept;
    void will_look() noexcept;

    [[nodiscard]] sleeper* end(error outcome) noexcept;
    static void go_on_there(work& item) noexcept;

    const char* name_;
    shared_waiters* queue_ = nullptr;  // That it waits, or has waited, in.
    std::coroutine_handle<> handle_;
    const environment* env_ = nullptr;
    error outcome_;
    once_woken then_;
    bool will_look_ = false;  // Counted in `queue_`. Under the lock.
    bool away_ = false;       // Suspended, so in the queue or with the executor. Its own thread's.
    // It was in the queue, and the executor has it now: the queue may be gone, unless it looks.
    std::atomic<bool> handed_over_ = false;
};

/// The queue. First come, first served. Its owner must outlive its waiters.
class shared_waiters {
public:
    /// @param  lock  Borrowed; protects this queue, and what its owner likes.
    explicit shared_waiters(spin_lock& lock) noexcept : lock_{lock} {}
    shared_waiters(const shared_waiters&) = delete;
    shared_waiters& operator=(const shared_waiters&) = delete;
    ~shared_waiters() {
        expects(idle(),
                "what is waited for outlives the coroutines and threads that wait for it: declare "
                "it before their loops, or stop and await them first");
    }

    // All with the lock held.

    [[nodiscard]] bool empty() const noexcept { return queue_.empty(); }

    /// Whether none waits, and none that was woken is yet to look at the owner.
    [[nodiscard]] bool idle() const noexcept { return queue_.empty() && to_look_ == 0; }

    /// How many there are. Linear.
    [[nodiscard]] std::size_t size() const noexcept { return queue_.size(); }

    /// The one that has waited longest. @pre  not empty.
    [[nodiscard]] shared_waiter& front() noexcept { return queue_.front(); }

    /// Ends the longest wait. @pre  not empty, and `woken` not full.
    void wake_one(wake_list& woken, error outcome = {}) noexcept {
        woken.add(queue_.front().end(outcome));
    }

    /// Ends every wait: see hand_over_each.
    void wake_all(std::unique_lock<spin_lock>& hold, error outcome = {}) noexcept;

private:
    friend class shared_waiter;

    spin_lock& lock_;
    list<shared_waiter, shared_waiters> queue_;
    std::size_t to_look_ = 0;
};

// Implementation

template <class Attempt>
bool shared_waiter::wait_unless(shared_waiters& queue, std::coroutine_handle<> handle,
                                const environment& given, const Attempt& attempt) noexcept {
    if (given.chain->stopping()) return go_on(handle, given, errc::canceled);
    error outcome;
    {
        wake_list woken;
        const std::lock_guard hold{queue.lock_};
        const auto result = attempt(woken);
        if (!result) {
            wait_in(queue, handle, given);
            return true;
        }
        if constexpr (!std::same_as<decltype(result), const bool>) outcome = *result;
        if (then_ == once_woken::looks && !outcome) will_look(queue);
    }
    return go_on(handle, given, outcome);
}

}  // namespace gyre
