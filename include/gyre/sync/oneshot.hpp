// SPDX-License-Identifier: BSL-1.0
//
// One value from one place to another: the answer to a request that went to another loop.
//
// Two ends that are owned apart, each of which may go first: the receiver then hears that no value will
// come, the sender that none is wanted.
#pragma once

#include <gyre/base/check.hpp>
#include <gyre/sync/blocked_thread.hpp>
#include <gyre/sync/shared_waiters.hpp>

#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

namespace gyre {

/// What both ends share.
template <class Value>
struct oneshot_state {
    static_assert(std::is_nothrow_move_constructible_v<Value>,
                  "a value is handed from one thread to another, neither of which could catch what "
                  "its move throws: send a std::unique_ptr to it");

    // The sender's until `no_sender`, then the receiver's: it moves and ends without the lock.
    std::optional<Value> value;
    bool no_sender = false;
    bool no_receiver = false;
    shared_waiters waiting{lock};  // The receiver's wait, at most.
    spin_lock lock;                // Of all above; goes first.
};

/// The end that sends. Moves; one thread at a time. If it goes without having sent, the receiver's wait ends
/// with `errc::broken_promise`.
template <class Value>
class oneshot_sender {
public:
    using returned =
        std::conditional_t<std::is_default_constructible_v<Value>, Value, std::optional<Value>>;

    oneshot_sender() noexcept = default;  ///< Sends to no receiver.
    explicit oneshot_sender(std::shared_ptr<oneshot_state<Value>> state) noexcept
        : state_{std::move(state)} {}
    oneshot_sender(oneshot_sender&&) noexcept = default;
    oneshot_sender& operator=(oneshot_sender other) noexcept {
        std::swap(state_, other.state_);
        return *this;
    }
    ~oneshot_sender() {
        if (state_ == nullptr) return;
        wake_list woken;
        const std::lock_guard hold{state_->lock};
        state_->no_sender = true;
        if (!state_->waiting.empty()) state_->waiting.wake_one(woken, errc::broken_promise);
    }

    /// Hands `value` over, and lets go of the channel. Never waits.
    ///
    /// @return The value again if it was not sent; else the null state.
    ///
    /// Errors:   `errc::closed` if the receiver is gone, or if this has sent before.
    /// Threads:  any.
    io_result<returned> send(Value value) noexcept {
        const std::shared_ptr<oneshot_state<Value>> state = std::move(state_);
        if (state == nullptr) return {errc::closed, returned{std::move(value)}};
        state->value.emplace(std::move(value));
        if (hand_over(*state)) return returned{};
        return {errc::closed, returned{std::move(*state->value)}};
    }

    /// Whether a value would be of use; at once out of date, but once false false for ever.
    [[nodiscard]] bool wanted() const noexcept {
        if (state_ == nullptr) return false;
        const std::lock_guard hold{state_->lock};
        return !state_->no_receiver;
    }

private:
    // False if the receiver is gone.
    static bool hand_over(oneshot_state<Value>& to) noexcept {
        wake_list woken;
        const std::lock_guard hold{to.lock};
        to.no_sender = true;
        if (to.no_receiver) return false;
        if (!to.waiting.empty()) to.waiting.wake_one(woken);
        return true;
    }

    std::shared_ptr<oneshot_state<Value>> state_;
};

/// The end that receives. Moves while nothing waits; one thread at a time.
template <class Value>
class oneshot_receiver {
public:
    using received =
        std::conditional_t<std::is_default_constructible_v<Value>, Value, std::optional<Value>>;

    oneshot_receiver() noexcept = default;  ///< Receives nothing.
    explicit oneshot_receiver(std::shared_ptr<oneshot_state<Value>> state) noexcept
        : state_{std::move(state)} {}
    oneshot_receiver(oneshot_receiver&&) noexcept = default;
    oneshot_receiver& operator=(oneshot_receiver other) noexcept {
        std::swap(state_, other.state_);
        return *this;
    }
    ~oneshot_receiver() { close(); }

    class [[nodiscard]] receive_awaiter final : public shared_waiter {
    public:
        explicit receive_awaiter(oneshot_state<Value>& from) noexcept
            : shared_waiter{"oneshot", once_woken::looks}, from_{from} {}
        receive_awaiter(receive_awaiter&&) noexcept = default;
        ~receive_awaiter() { abandon(); }

        [[nodiscard]] bool await_suspend(std::coroutine_handle<> handle,
                                         const environment* given) noexcept {
            return wait_unless(from_.waiting, handle, *given,
                               [this](wake_list&) { return from_.no_sender; });
        }
        io_result<received> await_resume() noexcept {
            if (outcome()) return outcome();
            {
                const std::lock_guard hold{from_.lock};
                look();
            }
            if (!from_.value.has_value()) return errc::broken_promise;
            return received{*std::exchange(from_.value, std::nullopt)};
        }

    private:
        oneshot_state<Value>& from_;
    };

    /// Waits for the value.
    ///
    /// @pre  this is the receiving end of a oneshot, and not closed.
    ///
    /// Errors:        `errc::broken_promise` if the sender has gone without sending, or the value was
    ///                received before.
    /// Cancellation:  `errc::canceled`; the value is still to be received.
    /// Threads:       any; resumes on the caller's executor.
    /// Cost:          no allocation; tens of ns if it is there.
    receive_awaiter receive() noexcept {
        expects(state_ != nullptr, "a receiver that was closed, or moved from, receives nothing");
        return receive_awaiter{*state_};
    }

    /// The same for a thread without a loop, which blocks.
    /// Errors:  as those of `receive`; `errc::timed_out` at `deadline`.
    io_result<received> receive_blocking(time_point deadline = never) noexcept {
        return block_on(receive(), deadline);
    }

    /// The value if it is there.
    [[nodiscard]] std::optional<Value> try_receive() noexcept {
        if (state_ == nullptr) return std::nullopt;
        {
            const std::lock_guard hold{state_->lock};
            if (!state_->no_sender) return std::nullopt;
        }
        return std::exchange(state_->value, std::nullopt);
    }

    /// The value is no longer wanted; a send is refused from now on. Nothing may wait.
    void close() noexcept {
        if (state_ == nullptr) return;
        expects(let_go(*state_), "a receiver is not closed while it is waited for");
        state_.reset();
    }

private:
    // False if it is waited for.
    static bool let_go(oneshot_state<Value>& from) noexcept {
        const std::lock_guard hold{from.lock};
        from.no_receiver = true;
        return from.waiting.idle();
    }

    std::shared_ptr<oneshot_state<Value>> state_;
};

/// Both ends.
template <class Value>
struct oneshot {
    oneshot_sender<Value> sender;
    oneshot_receiver<Value> receiver;
};

/// A channel for one value. Cost: one allocation.
template <class Value>
[[nodiscard]] oneshot<Value> make_oneshot() {
    auto state = std::make_shared<oneshot_state<Value>>();
    return {oneshot_sender<Value>{state}, oneshot_receiver<Value>{state}};
}

}  // namespace gyre
