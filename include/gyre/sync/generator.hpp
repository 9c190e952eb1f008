// SPDX-License-Identifier: BSL-1.0
//
// A coroutine that yields many values, awaited one by one.
//
// An asynchronous stream: its body may await like any task's, its consumer pulls. Nothing runs ahead
// of the consumer, so there is no queue and nothing to bound.
#pragma once

#include <gyre/base/check.hpp>
#include <gyre/base/exception.hpp>
#include <gyre/coro/frame_memory.hpp>
#include <gyre/coro/resume.hpp>
#include <gyre/coro/task_node.hpp>

#include <concepts>
#include <coroutine>
#include <memory>
#include <optional>
#include <utility>

namespace gyre {

/// Yields `Value`s until it returns. Owns its frame; moves. One consumer at a time. It may be
/// destroyed between two values: its body then ends at the co_yield, locals destroyed in order.
/// `co_yield` copies an lvalue and moves everything else. Its frame may be in a resource, as a task's
/// (frame_memory.hpp).
template <class Value>
class [[nodiscard]] generator {
public:
    class promise_type;

    generator(generator&& other) noexcept : frame_{std::exchange(other.frame_, nullptr)} {}
    generator& operator=(generator&& other) noexcept {
        std::swap(frame_, other.frame_);
        return *this;
    }
    ~generator() {
        if (frame_) frame_.destroy();
    }

    class [[nodiscard]] next_awaiter {
    public:
        explicit next_awaiter(std::coroutine_handle<promise_type> frame) noexcept : frame_{frame} {}

        [[nodiscard]] bool await_ready() const noexcept { return false; }
        [[nodiscard]] std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiter,
                                                            const environment* given) noexcept;
        std::optional<Value> await_resume();

    private:
        std::coroutine_handle<promise_type> frame_;
    };

    /// Runs the body to its next co_yield.
    ///
    /// @return The value, or nothing once the body has returned.
    ///
    /// Errors:        whatever the values say. A user's exception is rethrown here, once.
    /// Cancellation:  reaches what the body awaits; the body decides what it yields then.
    /// Threads:       the body runs on the consumer's executor.
    /// Cost:          two transfers of control; no allocation. No budget either: only what the body
    ///                awaits gives way to other coroutines, as with any call.
    [[nodiscard]] next_awaiter next() noexcept {
        expects(frame_ != nullptr, "a generator that was not moved from");
        return next_awaiter{frame_};
    }

private:
    explicit generator(std::coroutine_handle<promise_type> frame) noexcept : frame_{frame} {}

    std::coroutine_handle<promise_type> frame_;
};

// Implementation

template <class Value>
class generator<Value>::promise_type : public task_node {
public:
    struct hand_over {
        [[nodiscard]] bool await_ready() const noexcept { return false; }
        template <std::derived_from<promise_type> Promise>
        [[nodiscard, gnu::always_inline]] std::coroutine_handle<> await_suspend(
            std::coroutine_handle<Promise> self) const noexcept {
            return transfer(self.promise().consumer);
        }
        void await_resume() const noexcept {}
    };

    [[nodiscard]] generator get_return_object() noexcept {
        return generator{std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    [[nodiscard]] std::suspend_always initial_suspend() const noexcept { return {}; }
    [[nodiscard]] hand_over final_suspend() const noexcept { return {}; }
    // A temporary is moved from; what the body keeps is copied.
    [[nodiscard]] hand_over yield_value(Value&& value) noexcept {
        current = std::addressof(value);
        movable = true;
        return {};
    }
    [[nodiscard]] hand_over yield_value(const Value& value) noexcept
        requires std::copy_constructible<Value>
    {
        current = const_cast<Value*>(std::addressof(value));  // Only ever copied.
        movable = false;
        return {};
    }

    [[nodiscard]] Value take_current() {
        if constexpr (std::copy_constructible<Value>) {
            if (!movable) return std::as_const(*current);
        }
        return std::move(*current);
    }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { failure.capture(); }

    std::coroutine_handle<> consumer;
    Value* current = nullptr;  // Lives in the suspended body until it goes on.
    bool movable = false;
    [[no_unique_address]] exception_slot failure;
};

template <class Value>
std::coroutine_handle<> generator<Value>::next_awaiter::await_suspend(
    std::coroutine_handle<> waiter, const environment* given) noexcept {
    if (frame_.done()) return waiter;
    frame_.promise().env = given;
    frame_.promise().consumer = waiter;
    frame_.promise().current = nullptr;
    return frame_;
}

template <class Value>
std::optional<Value> generator<Value>::next_awaiter::await_resume() {
    promise_type& made = frame_.promise();
    if (made.current != nullptr && !frame_.done()) return made.take_current();
    made.failure.rethrow_if_any();
    return std::nullopt;
}

}  // namespace gyre

template <class Value, class... Parameters>
    requires gyre::asks_for_resource<Parameters...>
struct std::coroutine_traits<gyre::generator<Value>, Parameters...>
    : gyre::resource_frame_traits<gyre::generator<Value>, Parameters...> {};
