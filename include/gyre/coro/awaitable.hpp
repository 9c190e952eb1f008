// SPDX-License-Identifier: BSL-1.0
//
// What it takes to be awaited inside a gyre coroutine.
//
// An awaitable of this library has the three functions of the language, except that
// `await_suspend` takes the environment as a second argument. The contract, beyond the syntax:
//
//   - `await_ready` returns false. Completing without suspending is said by `await_suspend`
//     returning false, after `loop::spend` (or `spend_in_memory`) has granted it, so that one budget
//     sees everything.
//   - Before start it is a plain movable value; from `await_suspend` until `await_resume` it stays
//     where it is.
//   - It resumes the handle exactly once, by posting to the environment's executor, and never
//     inside `await_suspend` itself.
//   - While pending it sits in the chain's slot, or ignores stop and says so in its contract.
#pragma once

#include <gyre/coro/environment.hpp>

#include <concepts>
#include <coroutine>
#include <type_traits>
#include <utility>

namespace gyre {

template <class Result>
concept suspension = std::same_as<Result, void> || std::same_as<Result, bool> ||
                     std::convertible_to<Result, std::coroutine_handle<>>;

/// Something that can be co_awaited here; see the contract above.
template <class Type>
concept awaitable = requires(std::remove_reference_t<Type>& it, std::coroutine_handle<> waiter,
                             const environment* given) {
    { it.await_ready() } -> std::convertible_to<bool>;
    { it.await_suspend(waiter, given) } -> suspension;
    it.await_resume();
};

/// What `co_await`ing `Type` yields.
template <awaitable Type>
using awaited = decltype(std::declval<std::remove_reference_t<Type>&>().await_resume());

/// An awaitable that yields something convertible to `Result`.
template <class Type, class Result>
concept awaitable_of = awaitable<Type> && std::convertible_to<awaited<Type>, Result>;

/// What a structured binding finds of an awaitable that it binds in place of what that yields. An awaitable
/// class says that it yields something to bind by a type `bound_when_awaited` of its own.
template <class Awaitable>
struct bound_before_awaited {
    static_assert(sizeof(Awaitable) == 0,
                  "co_await is missing: auto [error, value] = co_await ...");
};

/// Begins to await `it` on behalf of `waiter`, whatever its `await_suspend` returns. True when
/// `waiter` will be resumed later; false when it finished on the spot and `await_resume` is due.
/// A coroutine that `it` passes control to is returned through `next`.
template <awaitable Type>
[[nodiscard]] inline bool begin_await(Type& it, std::coroutine_handle<> waiter,
                                      const environment* given, std::coroutine_handle<>& next) {
    using outcome = decltype(it.await_suspend(waiter, given));
    if (it.await_ready()) return false;
    if constexpr (std::same_as<outcome, void>) {
        it.await_suspend(waiter, given);
        return true;
    } else if constexpr (std::same_as<outcome, bool>) {
        return it.await_suspend(waiter, given);
    } else {
        next = it.await_suspend(waiter, given);
        return true;
    }
}

}  // namespace gyre

template <class Awaitable>
    requires(!std::is_const_v<Awaitable> && requires { typename Awaitable::bound_when_awaited; })
struct std::tuple_size<Awaitable> : gyre::bound_before_awaited<Awaitable> {};
