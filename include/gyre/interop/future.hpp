// SPDX-License-Identifier: BSL-1.0
//
// A task's result for a thread that blocks.
//
// `std::future` is how threads without a loop wait: tests, main, a worker of another library. It is the
// dearest of the ways out of a coroutine (a lock, a condition, a shared state from malloc), so callbacks
// and springboards come first; see callbacks.hpp.
#pragma once

#include <gyre/base/exception.hpp>
#include <gyre/coro/launch.hpp>

#include <future>
#include <type_traits>
#include <utility>

namespace gyre {

/// Starts `it` on `where` and promises its result.
///
/// Never wait for the future on the thread that runs `where`: no thread would be left to fulfil it.
///
/// @param  where  The executor it runs on. Borrowed; must outlive the coroutine.
/// @param  it     Owned until it has ended.
/// @return Ready when the task has ended, with its value or a user's exception. May be dropped: the task
///         goes on all the same. A loop that dies first stops the task, and the future holds whatever
///         the task makes of that.
///
/// Threads:  any; `where` must be run by another one than the one that waits.
/// Cost:     the shared state of `std::future`, one block from the frame cache, and a thread woken
/// up.
template <executor Executor, class Result>
[[nodiscard]] std::future<Result> to_future(Executor& where, task<Result> it) {
    std::promise<Result> promise;
    std::future<Result> future = promise.get_future();
    launch(where, std::move(it),
           [promise = std::move(promise)](task_outcome<Result> outcome) mutable noexcept {
               exception_slot failure;
               const bool ended = run_catching(failure, [&] {
                   if constexpr (std::is_void_v<Result>) {
                       outcome.get();
                       promise.set_value();
                   } else {
                       promise.set_value(outcome.get());
                   }
               });
               if (!ended) promise.set_exception(failure.take());
           });
    return future;
}

/// The same for what `function` makes, which is kept until that has ended.
template <executor Executor, task_function Function>
[[nodiscard]] auto to_future(Executor& where, Function function) {
    return to_future(where, call_and_keep(std::move(function)));
}

}  // namespace gyre
