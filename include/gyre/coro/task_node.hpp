// SPDX-License-Identifier: BSL-1.0
//
// What every coroutine of the library carries in its promise: its place in the tree of awaits.
//
// From a root downward each node knows which coroutine it awaits and on which line, so a hanging
// program can be asked who waits for what (task_dump.hpp). The fields are written on every await,
// which costs two stores. task.hpp and generator.hpp derive their promises from it.
#pragma once

#include <gyre/coro/awaitable.hpp>
#include <gyre/coro/frame_allocator.hpp>
#include <gyre/coro/resume.hpp>

#include <concepts>
#include <coroutine>
#include <source_location>

namespace gyre {

template <class Result>
class task;
struct task_node;
class locals_scope;

/// An awaitable below which a coroutine may run in place of an operation: once `await_suspend` has returned a
/// handle, `node_below` is that coroutine's node, or null.
template <class Awaitable>
concept has_node_below = requires(const Awaitable& it) {
    { it.node_below() } noexcept -> std::same_as<task_node*>;
};

/// The untyped part of a promise. Belongs to the thread that runs the coroutine.
struct task_node {
    const environment* env = nullptr;  ///< Set when it starts; outlives what it awaits.
    task_node* awaiting = nullptr;     ///< The coroutine it awaits; null in front of a leaf.
    std::source_location where;        ///< Its last co_await.
    time_point since{};                ///< When that began, by the loop's clock.

    /// Frames come from the frame cache and never fail: see frame_allocator.hpp. It does not throw,
    /// but saying so makes g++ ask for a fallback that could never be called.
    static void* operator new(std::size_t size) { return frame_cache::allocate(size); }
    static void operator delete(void* frame, std::size_t size) noexcept {
        frame_cache::release(frame, size);
    }

    /// Hands the environment to `it`. By reference: by value g++ keeps a copy per await site.
    template <class Awaitable>
    [[nodiscard]] auto await_transform(
        Awaitable&& it, std::source_location location = std::source_location::current()) noexcept {
        static_assert(awaitable<Awaitable>,
                      "not awaitable in a gyre coroutine: it needs await_ready(), "
                      "await_suspend(std::coroutine_handle<>, gyre::environment const*) and "
                      "await_resume(); see gyre/coro/awaitable.hpp");
        begin(location);
        return leaf_await<std::remove_reference_t<Awaitable>>{it, *this};
    }

    template <class Result>
    [[nodiscard]] auto await_transform(
        task<Result>&& child,
        std::source_location location = std::source_location::current()) noexcept {
        begin(location);
        awaiting = child.node();
        return child_await<task<Result>>{child, *this};
    }

    /// Changes `env`, as long as `scope` lives: see task_locals.hpp.
    template <std::derived_from<locals_scope> Scope>
    [[nodiscard]] std::suspend_never await_transform(Scope& scope) noexcept {
        scope.open(*this);
        return {};
    }

    /// Not provided; the message says what to do.
    template <class Result>
    [[nodiscard]] auto await_transform(task<Result>& child) noexcept {
        static_assert(sizeof(task<Result>) == 0,
                      "a task runs once: await it by co_await std::move(named)");
        return child_await<task<Result>>{child, *this};
    }

private:
    void begin(std::source_location location) noexcept {
        where = location;
        since = env->loop->now();
    }

    // Implementation

    template <class Awaitable>
    struct leaf_await {
        Awaitable& it;
        task_node& self;

        bool await_ready() noexcept { return it.await_ready(); }
        [[gnu::always_inline]] auto await_suspend(std::coroutine_handle<> waiter) noexcept {
            using outcome = decltype(it.await_suspend(waiter, self.env));
            if constexpr (std::convertible_to<outcome, std::coroutine_handle<>>) {
                const std::coroutine_handle<> next = it.await_suspend(waiter, self.env);
                if constexpr (has_node_below<Awaitable>) self.awaiting = it.node_below();
                return transfer(next);
            } else {
                return it.await_suspend(waiter, self.env);
            }
        }
        decltype(auto) await_resume() {
            if constexpr (has_node_below<Awaitable>) self.awaiting = nullptr;
            return it.await_resume();
        }
    };

    template <class Task>
    struct child_await {
        Task& child;
        task_node& self;

        bool await_ready() noexcept { return false; }
        [[gnu::always_inline]] auto await_suspend(std::coroutine_handle<> waiter) noexcept {
            return transfer(child.await_suspend(waiter, self.env));
        }
        decltype(auto) await_resume() {
            self.awaiting = nullptr;
            return child.await_resume();
        }
    };
};

}  // namespace gyre
