// SPDX-License-Identifier: BSL-1.0
//
// The latest value of something, and a wait for a later one: settings, a state, a price.
//
// A reader that looks seldom skips what was in between; broadcast.hpp is for readers that want all of it.
// Each value has a version, and a wait says which one was seen, so there is nothing to subscribe to.
#pragma once

#include <gyre/sync/blocked_thread.hpp>
#include <gyre/sync/shared_waiters.hpp>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace gyre {

/// A value that does not change, and its place in the order of those that there were.
template <class Value>
struct watched_value {
    std::shared_ptr<const Value> value;  ///< Null only where there is an error.
    std::uint64_t version = 0;           ///< The first one's is 1.
};

/// A value that is replaced as a whole; any number of threads replace and read it. Must outlive its waiters.
///
/// Threads:  everything here is for any thread.
template <class Value>
class watch {
public:
    using snapshot = watched_value<Value>;

    explicit watch(Value first)
        : latest_{std::make_shared<const Value>(std::move(first)), std::uint64_t{1}} {}

    class [[nodiscard]] changed_awaiter final : public shared_waiter {
    public:
        changed_awaiter(watch& of, std::uint64_t seen) noexcept
            : shared_waiter{"watch", once_woken::looks}, of_{of}, seen_{seen} {}
        changed_awaiter(changed_awaiter&&) noexcept = default;
        ~changed_awaiter() { abandon(); }

        [[nodiscard]] bool await_suspend(std::coroutine_handle<> handle,
                                         const environment* given) noexcept {
            return wait_unless(of_.waiting_, handle, *given,
                               [this](wake_list&) -> std::optional<error> {
                                   if (of_.latest_.version > seen_) return error{};
                                   if (of_.closed_) return error{errc::closed};
                                   return std::nullopt;
                               });
        }
        io_result<snapshot> await_resume() noexcept {
            if (outcome()) return outcome();
            const std::lock_guard hold{of_.lock_};
            look();
            return of_.latest_;
        }

    private:
        watch& of_;
        std::uint64_t seen_;
    };

    /// Replaces the value, and ends the waits. The old one lives while it is held.
    /// Cost:  one allocation, and a wake-up for each thread that sleeps.
    void set(Value value) {
        auto latest = std::make_shared<const Value>(std::move(value));
        std::unique_lock hold{lock_};
        latest_.value.swap(latest);  // The old one goes when the lock is free.
        ++latest_.version;
        waiting_.wake_all(hold);
    }

    /// The latest value.
    [[nodiscard]] snapshot get() const noexcept {
        const std::lock_guard hold{lock_};
        return latest_;
    }

    /// Waits for a value later than the version `seen`; 0 has seen none.
    ///
    /// @return The latest one by the time it goes on, which may be several versions later.
    ///
    /// Errors:        `errc::closed` once it is closed and the last value has been seen.
    /// Cancellation:  `errc::canceled`; the change is still to be seen.
    /// Threads:       any; resumes on the caller's executor.
    /// Cost:          no allocation; tens of ns if there is one.
    changed_awaiter changed(std::uint64_t seen) noexcept { return {*this, seen}; }

    /// The same for a thread without a loop, which blocks.
    /// Errors:  as those of `changed`; `errc::timed_out` at `deadline`.
    io_result<snapshot> changed_blocking(std::uint64_t seen, time_point deadline = never) noexcept {
        return block_on(changed(seen), deadline);
    }

    /// There will be no later value.
    void close() noexcept {
        std::unique_lock hold{lock_};
        closed_ = true;
        waiting_.wake_all(hold, errc::closed);
    }

private:
    snapshot latest_;
    bool closed_ = false;
    shared_waiters waiting_{lock_};
    mutable spin_lock lock_;  // Of all above; goes first.
};

}  // namespace gyre
