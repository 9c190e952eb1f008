// SPDX-License-Identifier: BSL-1.0
//
// Every value to every receiver, which the sender never waits for.
//
// A ring of the latest values. A receiver that falls behind by more than the ring holds goes on with the
// oldest that is left, and is told how many it has missed; so one slow receiver costs neither the sender
// nor the others anything. watch.hpp has the latest value only.
#pragma once

#include <gyre/base/check.hpp>
#include <gyre/sync/blocked_thread.hpp>
#include <gyre/sync/shared_waiters.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace gyre {

/// Any number of senders and receivers on any threads. Values are copied under a lock. Must outlive its
/// receivers.
///
/// Threads:  everything here is for any thread.
template <class Value>
class broadcast {
    static_assert(std::is_nothrow_copy_constructible_v<Value> &&
                      std::is_nothrow_copy_assignable_v<Value> &&
                      std::is_default_constructible_v<Value>,
                  "a value is copied under a lock, for each receiver: send a std::shared_ptr to "
                  "what may throw, is large or has no default");

public:
    /// @param  capacity  How many values it holds, so how far a receiver may fall behind; at least 1.
    explicit broadcast(std::size_t capacity) : values_(capacity) {
        expects(capacity > 0, "a ring that holds no value delivers none");
    }

    /// One that receives all that is sent from now on. A copy goes on from the same place by itself. One
    /// thread at a time; does not wait for two things at a time.
    class receiver {
    public:
        class [[nodiscard]] receive_awaiter final : public shared_waiter {
        public:
            explicit receive_awaiter(receiver& by) noexcept
                : shared_waiter{"broadcast", once_woken::looks}, by_{by} {}
            receive_awaiter(receive_awaiter&&) noexcept = default;
            ~receive_awaiter() { abandon(); }

            [[nodiscard]] bool await_suspend(std::coroutine_handle<> handle,
                                             const environment* given) noexcept {
                broadcast& from = *by_.from_;
                return wait_unless(from.waiting_, handle, *given,
                                   [&](wake_list&) -> std::optional<error> {
                                       if (from.end_ != by_.next_) return error{};
                                       if (from.closed_) return error{errc::closed};
                                       return std::nullopt;
                                   });
            }
            io_result<Value, std::uint64_t> await_resume() noexcept {
                if (outcome()) return outcome();
                {
                    const std::lock_guard hold{by_.from_->lock_};
                    look();
                    if (by_.from_->end_ != by_.next_) return by_.take();
                }
                fail_check("receive",
                           "a receiver of a broadcast waits for one thing at a time: copy it");
            }

        private:
            receiver& by_;
        };

        /// Waits for the next value.
        ///
        /// @return The value, and how many were missed before it because this was too slow.
        ///
        /// Errors:        `errc::closed` once it is closed and the last value was received.
        /// Cancellation:  `errc::canceled`; the next value is still to be received.
        /// Threads:       any; resumes on the caller's executor.
        /// Cost:          no allocation; tens of ns and a copy if there is one.
        receive_awaiter receive() noexcept { return receive_awaiter{*this}; }

        /// The same for a thread without a loop, which blocks.
        /// Errors:  as those of `receive`; `errc::timed_out` at `deadline`.
        io_result<Value, std::uint64_t> receive_blocking(time_point deadline = never) noexcept {
            return block_on(receive(), deadline);
        }

        /// The same if there is one: `errc::resource_unavailable` if not, or `errc::closed`.
        [[nodiscard]] io_result<Value, std::uint64_t> try_receive() noexcept {
            const std::lock_guard hold{from_->lock_};
            if (from_->end_ != next_) return take();
            return from_->closed_ ? errc::closed : errc::resource_unavailable;
        }

    private:
        friend class broadcast;

        receiver(broadcast& from, std::uint64_t next) noexcept : from_{&from}, next_{next} {}

        // Under the lock.
        io_result<Value, std::uint64_t> take() noexcept {
            const std::uint64_t size = from_->values_.size();
            const std::uint64_t oldest = from_->end_ - std::min(from_->end_, size);
            const std::uint64_t missed = oldest > next_ ? oldest - next_ : 0;
            next_ += missed;
            return {error{}, from_->values_[next_++ % size], missed};
        }

        broadcast* from_;
        std::uint64_t next_;  // The place of the value that comes next, of all that were ever sent.
    };

    /// Begins to receive, with the next value that is sent.
    [[nodiscard]] receiver subscribe() noexcept {
        const std::lock_guard hold{lock_};
        return {*this, end_};
    }

    /// Sends `value` to all receivers, at once. False if closed.
    /// Cost:  a move, and a wake-up for each thread that sleeps.
    bool send(Value value) noexcept {
        std::unique_lock hold{lock_};
        if (closed_) return false;
        std::swap(values_[end_ % values_.size()],
                  value);  // The old one goes when the lock is free.
        ++end_;
        waiting_.wake_all(hold);
        return true;
    }

    /// Nothing more is sent; receivers hear of it when they have had the rest.
    void close() noexcept {
        std::unique_lock hold{lock_};
        closed_ = true;
        waiting_.wake_all(hold, errc::closed);
    }

    [[nodiscard]] std::size_t capacity() const noexcept { return values_.size(); }

private:
    std::vector<Value> values_;  // The latest ones, each at its place modulo the capacity.
    std::uint64_t end_ = 0;      // How many were ever sent.
    bool closed_ = false;
    shared_waiters waiting_{lock_};
    mutable spin_lock lock_;  // Of all above; goes first.
};

}  // namespace gyre
