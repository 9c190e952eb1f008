// SPDX-License-Identifier: BSL-1.0
//
// The queue in front of every lock, event and channel, written once.
//
// First come, first served. Waking posts instead of transferring, so that the turn's budget
// counts every wake-up. A waiter that was woken has what it was woken for, whatever is
// stopped afterwards. All on one loop or one strand, which is checked as far as a wait shows it;
// nothing here is locked.
#pragma once

#include <gyre/base/check.hpp>
#include <gyre/base/error.hpp>
#include <gyre/base/intrusive.hpp>
#include <gyre/base/result.hpp>
#include <gyre/coro/awaitable.hpp>
#include <gyre/coro/resumption.hpp>

#include <coroutine>
#include <cstddef>
#include <cstdint>

namespace gyre {

class waiters;

/// Not a level that is ever requested: what a waiter that ignores stops is ended by.
inline constexpr stop_level ignores_stop{static_cast<std::uint8_t>(stop_level::stop) + 1};

/// One coroutine in such a queue; the leaf awaiters of sync/ derive from it.
class waiter : public stop_target, public list_link<waiters> {
public:
    using bound_when_awaited = void;

    void request(stop_level level) noexcept override;
    [[nodiscard]] const char* waiting_for() const noexcept override { return name_; }

    [[nodiscard]] bool await_ready() const noexcept { return false; }

protected:
    /// @param  name     For people: "mutex", "channel receive"; static storage.
    /// @param  ends_at  The level that ends the wait.
    explicit waiter(const char* name, stop_level ends_at = stop_level::stop) noexcept
        : name_{name}, ends_at_{ends_at} {}
    waiter(waiter&& other) noexcept : waiter{other.name_, other.ends_at_} {}
    ~waiter() { abandon(); }

    /// Whether the chain was stopped before the wait began; the outcome is set then.
    [[nodiscard]] bool stopped_before(const environment& given) noexcept;

    /// Nothing to wait for: goes on at once, or by a post when the turn's share is used up. The
    /// result is `await_suspend`'s.
    [[nodiscard]] bool go_on(std::coroutine_handle<> handle, const environment& given,
                             error outcome = {}) noexcept;

    /// Waits in `queue` until woken or stopped. The result is `await_suspend`'s.
    [[nodiscard]] bool wait_in(waiters& queue, std::coroutine_handle<> handle,
                               const environment& given) noexcept;

    [[nodiscard]] error outcome() const noexcept { return outcome_; }

    /// How far a wait had come when its frame was destroyed.
    enum class wait_state : std::uint8_t {
        none,     ///< It had not begun, was over, or was ended by an error.
        waiting,  ///< It was in the queue.
        woken     ///< It had what it waited for, but was not resumed.
    };

    /// For destructors: its frame is gone, so it waits no longer. What it was woken for is another one's.
    wait_state abandon() noexcept;

private:
    friend class waiters;

    void end(error outcome) noexcept;

    const char* name_;
    resumption back_;
    error outcome_;
    stop_level ends_at_;
};

/// The queue. Its owner must outlive its waiters.
class waiters {
public:
    waiters() noexcept = default;
    waiters(const waiters&) = delete;
    waiters& operator=(const waiters&) = delete;
    ~waiters() {
        expects(
            empty(),
            "what is waited for (an event, a lock, a channel, ...) outlives the coroutines that "
            "wait for it: declare it before their loop or group, or stop and await them first");
    }

    [[nodiscard]] bool empty() const noexcept { return queue_.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return queue_.size(); }

    /// The one that has waited longest. @pre  not empty.
    [[nodiscard]] waiter& front() noexcept { return queue_.front(); }

    /// Ends the longest wait. False if there is none. On the loop of those who wait, or while that rests;
    /// so is `wake_all`.
    bool wake_one(error outcome = {}) noexcept;

    /// Ends every wait that has begun.
    void wake_all(error outcome = {}) noexcept;

private:
    friend class waiter;

    list<waiter, waiters> queue_;
};

}  // namespace gyre
