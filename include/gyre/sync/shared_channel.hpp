// SPDX-License-Identifier: BSL-1.0
//
// A bounded channel between loops: values on their way from some threads to others.
//
// What channel.hpp is on one loop, for senders and receivers on any loops, and for plain threads, which
// block. A receiver is woken only if it waits, and takes with one look what came meanwhile, so a channel
// that is not empty costs no wake-ups.
#pragma once

#include <gyre/sync/blocked_thread.hpp>
#include <gyre/sync/shared_waiters.hpp>
#include <gyre/sync/value_ring.hpp>

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

namespace gyre {

/// A bounded queue of `Value`s, which move. Any number of senders and receivers on any threads; first come,
/// first served. Must outlive its waiters, and all calls but those that are on their way out.
///
/// Values move under a lock: a move, and the end of what was moved from, must be cheap, and not use the
/// channel. What a value holds never ends there.
///
/// Threads:  everything here is for any thread.
template <class Value>
class shared_channel {
    static_assert(std::is_nothrow_move_constructible_v<Value> &&
                      std::is_nothrow_move_assignable_v<Value>,
                  "a value is handed from one thread to another, neither of which could catch what "
                  "its move throws: send a std::unique_ptr to it");

public:
    /// What `receive` yields: values, in a `std::optional` if they have no null state of their own.
    using received = typename value_ring<Value>::place;

    /// @param  capacity  How many values it holds; 0 makes every send wait for its receive.
    explicit shared_channel(std::size_t capacity) : values_(capacity) {}

    class [[nodiscard]] send_awaiter final : public shared_waiter {
    public:
        send_awaiter(shared_channel& to, Value value) noexcept
            : shared_waiter{"shared channel send"}, to_{to}, value_{std::move(value)} {}
        send_awaiter(send_awaiter&&) noexcept = default;
        ~send_awaiter() { abandon(); }

        [[nodiscard]] bool await_suspend(std::coroutine_handle<> handle,
                                         const environment* given) noexcept {
            return wait_unless(to_.senders_, handle, *given,
                               [this](wake_list& woken) -> std::optional<error> {
                                   if (to_.closed_) return errc::closed;
                                   if (to_.offer(value_, woken)) return error{};
                                   return std::nullopt;
                               });
        }
        io_result<received> await_resume() noexcept {
            if (!outcome()) return received{};
            return {outcome(), received{std::move(value_)}};
        }

    private:
        friend class shared_channel;

        shared_channel& to_;
        Value value_;
    };

    /// One that waits for a value, which is then moved to it.
    class receiver : public shared_waiter {
    protected:
        explicit receiver(shared_channel& from, once_woken then = once_woken::has_all) noexcept
            : shared_waiter{"shared channel receive", then}, from_{from} {}
        receiver(receiver&&) noexcept = default;
        ~receiver() = default;

        /// `await_suspend`. `take(hold)` is called if there is something to take, and lets go of the lock.
        template <class Take>
        [[nodiscard]] bool take_or_wait(std::coroutine_handle<> handle, const environment& given,
                                        const Take& take) noexcept {
            if (given.chain->stopping()) return go_on(handle, given, errc::canceled);
            error outcome;
            {
                std::unique_lock hold{from_.lock_};
                if (!from_.empty()) {
                    take(hold);
                } else if (from_.closed_) {
                    outcome = errc::closed;
                } else {
                    wait_in(from_.receivers_, handle, given);
                    return true;
                }
            }
            return go_on(handle, given, outcome);
        }

        shared_channel& from_;
        received value_{};

        friend class shared_channel;
    };

    class [[nodiscard]] receive_awaiter final : public receiver {
    public:
        explicit receive_awaiter(shared_channel& from) noexcept : receiver{from} {}
        receive_awaiter(receive_awaiter&&) noexcept = default;
        ~receive_awaiter() { this->abandon(); }

        [[nodiscard]] bool await_suspend(std::coroutine_handle<> handle,
                                         const environment* given) noexcept {
            return this->take_or_wait(handle, *given, [this](std::unique_lock<spin_lock>& hold) {
                this->from_.take_some({&this->value_, 1}, hold);
            });
        }
        io_result<received> await_resume() noexcept {
            if (this->outcome()) return this->outcome();
            return std::move(this->value_);
        }
    };

    class [[nodiscard]] receive_many_awaiter final : public receiver {
    public:
        receive_many_awaiter(shared_channel& from, std::span<received> into) noexcept
            : receiver{from, shared_waiter::once_woken::looks}, into_{into} {}
        receive_many_awaiter(receive_many_awaiter&&) noexcept = default;
        ~receive_many_awaiter() { this->abandon(); }

        [[nodiscard]] bool await_suspend(std::coroutine_handle<> handle,
                                         const environment* given) noexcept {
            if (into_.empty()) return this->go_on(handle, *given);
            if (given->chain->stopping()) return this->go_on(handle, *given, errc::canceled);
            const std::span<received> room = this->from_.make_room(into_);
            return this->take_or_wait(handle, *given, [&](std::unique_lock<spin_lock>& hold) {
                if (!room.empty()) {
                    count_ = this->from_.take_some(room, hold);
                } else {  // It has come since: as if it had been waited for.
                    this->will_look(this->from_.receivers_);
                    this->from_.take_some({&this->value_, 1}, hold);
                }
            });
        }

        // What it has waited for is one value; more may be there by now.
        io_result<std::size_t> await_resume() noexcept {
            if (this->outcome()) return this->outcome();
            if (count_ > 0 || into_.empty()) return count_;
            into_[0] = std::move(this->value_);
            const std::span<received> room = this->from_.make_room(into_.subspan(1));
            std::unique_lock hold{this->from_.lock_};
            this->look();
            return 1 + this->from_.take_some(room, hold);
        }

    private:
        std::span<received> into_;
        std::size_t count_ = 0;
    };

    /// Hands `value` over, waiting for room if need be.
    ///
    /// @return The value again if it was not sent; else the null state.
    ///
    /// Errors:        `errc::closed`.
    /// Cancellation:  `errc::canceled`.
    /// Threads:       any; resumes on the caller's executor.
    /// Cost:          no allocation; tens of ns if there is room, and a wake-up if a receiver sleeps.
    send_awaiter send(Value value) noexcept { return {*this, std::move(value)}; }

    /// The same for a thread without a loop, which blocks.
    /// @return The value again if it was not sent.
    /// Errors:  `errc::closed`; `errc::timed_out` at `deadline`.
    io_result<received> send_blocking(Value value, time_point deadline = never) noexcept {
        return block_on(send(std::move(value)), deadline);
    }

    /// The same only if there is room now; false otherwise, or if closed, and `value` is untouched.
    [[nodiscard]] bool try_send(Value& value) noexcept {
        wake_list woken;
        const std::lock_guard hold{lock_};
        return !closed_ && offer(value, woken);
    }

    /// Takes the oldest value, waiting for one if need be.
    ///
    /// Errors:        `errc::closed` once it is closed and empty.
    /// Cancellation:  `errc::canceled`; no value was taken.
    /// Threads:       any; resumes on the caller's executor.
    /// Cost:          no allocation; tens of ns if there is one, and a wake-up if a sender sleeps.
    receive_awaiter receive() noexcept { return receive_awaiter{*this}; }

    /// The same for a thread without a loop, which blocks.
    /// Errors:  `errc::closed` once it is closed and empty; `errc::timed_out` at `deadline`.
    io_result<received> receive_blocking(time_point deadline = never) noexcept {
        return block_on(receive(), deadline);
    }

    /// Takes the oldest values, as many as there are, waiting for one if need be.
    ///
    /// @param  into  Borrowed until it has been awaited. Empty completes at once. What was in the places that
    ///               are filled ends before, on the caller's executor; others may be left in their null
    ///               state.
    /// @return How many there are now in `into`, from its beginning; at least one unless the error is set.
    ///
    /// Errors:        `errc::closed` once it is closed and empty.
    /// Cancellation:  `errc::canceled`; no value was taken.
    /// Threads:       any; resumes on the caller's executor.
    /// Cost:          as `receive`, but once for all of them, and a move each.
    receive_many_awaiter receive_many(std::span<received> into) noexcept { return {*this, into}; }

    /// The same for a thread without a loop, which blocks.
    /// Errors:  `errc::closed` once it is closed and empty; `errc::timed_out` at `deadline`.
    io_result<std::size_t> receive_many_blocking(std::span<received> into,
                                                 time_point deadline = never) noexcept {
        return block_on(receive_many(into), deadline);
    }

    /// Takes the oldest value if there is one.
    [[nodiscard]] std::optional<Value> try_receive() noexcept {
        received taken{};
        {
            wake_list woken;
            const std::lock_guard hold{lock_};
            if (!take(taken, woken)) return std::nullopt;
        }
        return std::optional<Value>{std::move(taken)};
    }

    /// Nothing more is sent: waiting senders end with `errc::closed`, receivers when it is empty.
    void close() noexcept {
        std::unique_lock hold{lock_};
        closed_ = true;
        // Receivers wait only while it is empty, and no sender does then.
        shared_waiters& waiting = senders_.empty() ? receivers_ : senders_;
        waiting.wake_all(hold, errc::closed);
    }

    [[nodiscard]] bool closed() const noexcept {
        const std::lock_guard hold{lock_};
        return closed_;
    }

    /// How many values it holds; at once out of date.
    [[nodiscard]] std::size_t size() const noexcept {
        const std::lock_guard hold{lock_};
        return values_.size();
    }
    [[nodiscard]] std::size_t capacity() const noexcept { return values_.capacity(); }

private:
    static constexpr std::size_t moved_at_once_max = 64;

    [[nodiscard]] bool empty() const noexcept { return values_.empty() && senders_.empty(); }

    // Moves `value` to a receiver or into the queue, if that can be done at once.
    bool offer(Value& value, wake_list& woken) noexcept {
        if (!receivers_.empty()) {
            values_.hand(value, static_cast<receiver&>(receivers_.front()).value_);
            receivers_.wake_one(woken);
            return true;
        }
        if (values_.full()) return false;
        values_.push(value);
        return true;
    }

    // Moves the oldest value out, and the longest waiting sender's in, if there is one.
    bool take(received& into, wake_list& woken) noexcept {
        if (values_.empty()) {
            if (senders_.empty()) return false;
            values_.hand(static_cast<send_awaiter&>(senders_.front()).value_, into);
            senders_.wake_one(woken);
            return true;
        }
        values_.pop(into);
        if (!senders_.empty()) {
            values_.push(static_cast<send_awaiter&>(senders_.front()).value_);
            senders_.wake_one(woken);
        }
        return true;
    }

    // The places that can be filled now, in their null state: what was in them ends without the lock.
    std::span<received> make_room(std::span<received> into) noexcept {
        if constexpr (!std::is_trivially_destructible_v<received>) {
            {
                const std::lock_guard hold{lock_};
                into = into.first(std::min(into.size(), values_.size() + senders_.size()));
            }
            for (received& each : into) each = received{};
        }
        return into;
    }

    // Lets go of the lock. Others may have it between two pieces, but not once a sender was handed over to:
    // the last one may destroy this.
    std::size_t take_some(std::span<received> into, std::unique_lock<spin_lock>& hold) noexcept {
        std::size_t count = 0;
        bool handed_over = false;
        hand_over_each(hold, [&](wake_list& woken) {
            handed_over = handed_over || !senders_.empty();
            if (count == into.size() || !take(into[count], woken)) return false;
            if (++count % moved_at_once_max == 0 && !handed_over) {
                hold.unlock();
                hold.lock();
            }
            return true;
        });
        return count;
    }

    value_ring<Value> values_;
    bool closed_ = false;
    shared_waiters senders_{lock_};    // Invariant: empty unless the ring is full.
    shared_waiters receivers_{lock_};  // Invariant: empty unless the ring and `senders_` are.
    mutable spin_lock lock_;           // Of all above; goes first.
};

}  // namespace gyre
