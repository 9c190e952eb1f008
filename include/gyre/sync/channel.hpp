// SPDX-License-Identifier: BSL-1.0
//
// A bounded channel: values on their way from some coroutines to others.
//
// The bound is what makes a fast producer wait for a slow consumer; closing is how the producer says
// that nothing follows. Values are handed over directly to a waiting receiver.
#pragma once

#include <gyre/sync/value_ring.hpp>
#include <gyre/sync/waiters.hpp>

#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>

namespace gyre {

/// A bounded queue of `Value`s, which move. Any number of senders and receivers, all on one loop or one
/// strand; first come, first served. Must outlive its waiters.
template <class Value>
class channel {
    static_assert(std::is_nothrow_move_constructible_v<Value> &&
                      std::is_nothrow_move_assignable_v<Value>,
                  "a value is handed from one coroutine to another, neither of which could catch "
                  "what its move throws: send a std::unique_ptr to it");

public:
    /// What `receive` yields: values, in a `std::optional` if they have no null state of their own.
    using received = typename value_ring<Value>::place;

    /// @param  capacity  How many values it holds; 0 makes every send wait for its receive.
    explicit channel(std::size_t capacity) : values_(capacity) {}

    class send_awaiter final : public waiter {
    public:
        send_awaiter(channel& to, Value value) noexcept
            : waiter{"channel send"}, to_{to}, value_{std::move(value)} {}

        [[nodiscard]] bool await_suspend(std::coroutine_handle<> handle,
                                         const environment* given) noexcept {
            if (stopped_before(*given)) return go_on(handle, *given, errc::canceled);
            if (to_.closed_) return go_on(handle, *given, errc::closed);
            if (to_.offer(value_)) return go_on(handle, *given);
            return wait_in(to_.senders_, handle, *given);
        }
        io_result<> await_resume() const noexcept { return outcome(); }

    private:
        friend class channel;

        channel& to_;
        Value value_;
    };

    class receive_awaiter final : public waiter {
    public:
        explicit receive_awaiter(channel& from) noexcept : waiter{"channel receive"}, from_{from} {}

        [[nodiscard]] bool await_suspend(std::coroutine_handle<> handle,
                                         const environment* given) noexcept {
            if (stopped_before(*given)) return go_on(handle, *given, errc::canceled);
            if (from_.take(value_)) return go_on(handle, *given);
            if (from_.closed_) return go_on(handle, *given, errc::closed);
            return wait_in(from_.receivers_, handle, *given);
        }
        io_result<received> await_resume() noexcept {
            if (outcome()) return outcome();
            return std::move(value_);
        }

    private:
        friend class channel;

        channel& from_;
        received value_{};
    };

    /// Hands `value` over, waiting for room if need be.
    ///
    /// Errors:        `errc::closed`; the value is gone then.
    /// Cancellation:  `errc::canceled`; the value was not sent.
    /// Threads:       the loop or strand of the channel.
    /// Cost:          no allocation; a few ns if there is room.
    [[nodiscard]] send_awaiter send(Value value) noexcept { return {*this, std::move(value)}; }

    /// The same only if there is room now; false otherwise, or if closed, and `value` is untouched.
    [[nodiscard]] bool try_send(Value& value) noexcept { return !closed_ && offer(value); }

    /// Takes the oldest value, waiting for one if need be.
    ///
    /// Errors:        `errc::closed` once it is closed and empty.
    /// Cancellation:  `errc::canceled`; no value was taken.
    /// Threads:       the loop or strand of the channel.
    /// Cost:          no allocation; a few ns if there is one.
    [[nodiscard]] receive_awaiter receive() noexcept { return receive_awaiter{*this}; }

    /// Takes the oldest value if there is one.
    [[nodiscard]] std::optional<Value> try_receive() noexcept {
        received taken{};
        if (!take(taken)) return std::nullopt;
        return std::optional<Value>{std::move(taken)};
    }

    /// Nothing more is sent: waiting senders end with `errc::closed`, receivers when it is empty.
    void close() noexcept {
        closed_ = true;
        senders_.wake_all(errc::closed);
        receivers_.wake_all(errc::closed);  // They wait only while it is empty.
    }

    [[nodiscard]] bool closed() const noexcept { return closed_; }
    [[nodiscard]] std::size_t size() const noexcept { return values_.size(); }
    [[nodiscard]] std::size_t capacity() const noexcept { return values_.capacity(); }

private:
    // Moves `value` to a receiver or into the queue, if that can be done at once.
    bool offer(Value& value) noexcept {
        if (!receivers_.empty()) {
            values_.hand(value, static_cast<receive_awaiter&>(receivers_.front()).value_);
            receivers_.wake_one();
            return true;
        }
        if (values_.full()) return false;
        values_.push(value);
        return true;
    }

    // Moves the oldest value out, and the longest waiting sender's in, if there is one.
    bool take(received& into) noexcept {
        if (values_.empty()) {
            if (senders_.empty()) return false;
            values_.hand(static_cast<send_awaiter&>(senders_.front()).value_, into);
            senders_.wake_one();
            return true;
        }
        values_.pop(into);
        if (!senders_.empty()) {
            values_.push(static_cast<send_awaiter&>(senders_.front()).value_);
            senders_.wake_one();
        }
        return true;
    }

    value_ring<Value> values_;
    waiters senders_;    // Invariant: empty unless the ring is full.
    waiters receivers_;  // Invariant: empty unless the ring and `senders_` are.
    bool closed_ = false;
};

}  // namespace gyre
