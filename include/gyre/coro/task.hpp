// SPDX-License-Identifier: BSL-1.0
//
// The coroutine type that nearly everything is written in.
//
// A task is lazy: nothing happens until it is awaited, spawned into a group, or launched. It runs on
// the executor of its awaiter, control passes to it and back by symmetric transfer, and its
// frame comes from the thread's frame cache, or from where its first parameters say (frame_memory.hpp).
// task_node.hpp is the part it shares with generators.
#pragma once

#include <gyre/base/check.hpp>
#include <gyre/base/exception.hpp>
#include <gyre/coro/frame_memory.hpp>
#include <gyre/coro/resume.hpp>
#include <gyre/coro/task_node.hpp>

#include <concepts>
#include <coroutine>
#include <memory>
#include <type_traits>
#include <utility>

namespace gyre {

template <class Result>
class result_slot;

/// A coroutine that yields one `Result` to one awaiter.
///
/// Owns its frame: a task destroyed before it started just disappears, arguments and all. Moves;
/// does not copy. A user's exception travels to the awaiting coroutine.
///
/// Cancellation:  none of its own; a stop ends the leaf that it is waiting for.
/// Threads:       runs on the executor of its awaiter.
/// Cost:          one frame from the frame cache; about 5 ns per call.
template <class Result = void>
class [[nodiscard]] task {
public:
    class promise_type;
    using result_type = Result;

    task(task&& other) noexcept : frame_{std::exchange(other.frame_, nullptr)} {}
    task& operator=(task&& other) noexcept {
        std::swap(frame_, other.frame_);
        return *this;
    }
    ~task() {
        if (frame_) frame_.destroy();
    }

    /// Part of the awaitable contract; `co_await` calls these.
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    [[nodiscard]] std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiter,
                                                        const environment* given) noexcept {
        expects(frame_ != nullptr && frame_.promise().env == nullptr,
                "a task is awaited once, and not after it was moved from; call its function "
                "again for another");
        frame_.promise().env = given;
        frame_.promise().continuation = waiter;
        return frame_;
    }
    Result await_resume() { return frame_.promise().take(); }

    /// Where its result stands when it has ended; for those who run tasks.
    [[nodiscard]] result_slot<Result>& slot() noexcept { return frame_.promise(); }

    /// Its place in the tree of awaits; null after a move.
    [[nodiscard]] task_node* node() const noexcept { return frame_ ? &frame_.promise() : nullptr; }

private:
    explicit task(std::coroutine_handle<promise_type> frame) noexcept : frame_{frame} {}

    std::coroutine_handle<promise_type> frame_;  // Null once moved from.
};

// Implementation

/// Ends every task: control goes to its awaiter.
struct final_transfer {
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <class Promise>
    [[nodiscard, gnu::always_inline]] std::coroutine_handle<> await_suspend(
        std::coroutine_handle<Promise> done) const noexcept {
        return transfer(done.promise().continuation);
    }
    void await_resume() const noexcept {}
};

/// Where a coroutine leaves its result, or the exception that it ended with.
template <class Result>
class result_slot {
public:
    result_slot() noexcept {}
    result_slot(const result_slot&) = delete;
    result_slot& operator=(const result_slot&) = delete;
    ~result_slot() {
        if (full_) std::destroy_at(&value_);
    }

    template <class Value = Result>
        requires std::constructible_from<Result, Value&&>
    void return_value(Value&& value) noexcept(std::is_nothrow_constructible_v<Result, Value&&>) {
        std::construct_at(&value_, std::forward<Value>(value));
        full_ = true;
    }
    void unhandled_exception() noexcept { failure_.capture(); }

    [[nodiscard]] Result take() {
        failure_.rethrow_if_any();
        // g++ does not warn of a coroutine that can reach its end.
        expects(full_, "a task that yields a value ends with co_return, on each of its paths");
        return std::move(value_);
    }
    [[nodiscard]] exception_slot& failure() noexcept { return failure_; }

private:
    union {
        Result value_;
    };
    bool full_ = false;
    [[no_unique_address]] exception_slot failure_;
};

template <>
class result_slot<void> {
public:
    void return_void() noexcept {}
    void unhandled_exception() noexcept { failure_.capture(); }
    void take() { failure_.rethrow_if_any(); }
    [[nodiscard]] exception_slot& failure() noexcept { return failure_; }

private:
    [[no_unique_address]] exception_slot failure_;
};

template <class Result>
class task<Result>::promise_type : public task_node, public result_slot<Result> {
public:
    std::coroutine_handle<> continuation;

    [[nodiscard]] task get_return_object() noexcept {
        return task{std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    [[nodiscard]] std::suspend_always initial_suspend() const noexcept { return {}; }
    [[nodiscard]] final_transfer final_suspend() const noexcept { return {}; }
};

template <class Type>
inline constexpr bool is_task = false;
template <class Result>
inline constexpr bool is_task<task<Result>> = true;

static_assert(awaitable<task<int>> && awaitable<task<>>);

}  // namespace gyre

template <class Result>
struct std::tuple_size<gyre::task<Result>> : gyre::bound_before_awaited<gyre::task<Result>> {};

template <class Result, class... Parameters>
    requires gyre::asks_for_resource<Parameters...>
struct std::coroutine_traits<gyre::task<Result>, Parameters...>
    : gyre::resource_frame_traits<gyre::task<Result>, Parameters...> {};
