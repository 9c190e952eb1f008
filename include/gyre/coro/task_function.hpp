// SPDX-License-Identifier: BSL-1.0
//
// Lambdas as coroutines, with captures that live as long as they are used.
//
// The coroutine that a lambda makes reads the captures in the lambda itself, so
// `group.spawn([text]() -> task<> { ... }())` compiles and reads a lambda that is gone. Whatever starts
// a coroutine that outlives the statement therefore takes the lambda uncalled as well, and keeps it.
#pragma once

#include <gyre/base/build.hpp>
#include <gyre/coro/task.hpp>

#include <concepts>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace gyre {

/// A callable without arguments that makes a task, such as a lambda that is a coroutine.
template <class Function>
concept task_function =
    std::invocable<Function&> && is_task<std::remove_cvref_t<std::invoke_result_t<Function&>>>;

static_assert(task_function<task<> (*)()> && !task_function<task<>> && !task_function<int (*)()>);

/// Keeps a function in a coroutine's frame, which is aligned as malloc's memory is; an over-aligned one
/// in a block of its own.
template <task_function Function>
class kept_function {
public:
    explicit kept_function(Function&& function) : kept_{make(std::move(function))} {}

    [[nodiscard]] std::invoke_result_t<Function&> operator()() {
        if constexpr (over_aligned) {
            return (*kept_)();
        } else {
            return kept_();
        }
    }

private:
    static constexpr bool over_aligned = alignof(Function) > alignof(std::max_align_t);
    using keeper = std::conditional_t<over_aligned, std::unique_ptr<Function>, Function>;

    [[nodiscard]] static keeper make(Function&& function) {
        if constexpr (over_aligned) {
            return std::make_unique<Function>(std::move(function));
        } else {
            return std::move(function);
        }
    }

    keeper kept_;
};

/// The task of `kept`, which lives until that has ended.
template <task_function Function>
std::invoke_result_t<Function&> call_kept(kept_function<Function> kept) {
    co_return co_await kept();
}

/// A task that calls `function` when it starts.
///
/// @param  function  Owned by the task; destroyed with it, after what the coroutine has left behind.
///
/// Cost: one frame beside that of the coroutine.
template <task_function Function>
[[nodiscard]] std::invoke_result_t<Function&> call_and_keep(Function function) {
    return call_kept(kept_function<Function>{std::move(function)});
}

/// Awaits the task that `function` makes, run on `where`: as `on(where, task)`, for whatever has that.
///
/// @param  function  Owned; its captures live as long as its task. With g++ 12 give a lambda with captures a
///                   name first (docs/guide/compilers.md).
template <class Target, class Function>
    requires task_function<std::decay_t<Function>>
[[nodiscard]] auto on(Target& where, Function&& function) {
    return on(where, call_and_keep<std::decay_t<Function>>(std::forward<Function>(function)));
}

/// The same, for what g++ 12 may destroy twice.
template <class Target, class Function>
    requires task_function<std::decay_t<Function>> && maybe_destroyed_twice<Function>
[[nodiscard,
  deprecated(
      "g++ 12 destroys a temporary lambda twice in a co_await: give it a name, and pass that")]]
auto on(Target& where, Function&& function) {
    return on(where, call_and_keep<Function>(std::forward<Function>(function)));
}

}  // namespace gyre
