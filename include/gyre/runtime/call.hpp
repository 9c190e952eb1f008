// SPDX-License-Identifier: BSL-1.0
//
// A function that blocks, awaited without blocking the loop.
//
// For libraries that wait, and for computations that take long enough to be felt by every other
// coroutine of the loop. thread_pool.hpp has the threads.
#pragma once

#include <gyre/base/build.hpp>
#include <gyre/base/exception.hpp>
#include <gyre/runtime/submit.hpp>

#include <optional>
#include <type_traits>
#include <utility>

namespace gyre {

/// What `blocking` keeps for the worker, in the awaiting coroutine's frame.
template <class Function, class Result>
class blocking_call {
public:
    explicit blocking_call(Function function) noexcept : function_{std::move(function)} {}

    [[nodiscard]] std::int32_t prepare(call_operation& op, io_context&) noexcept {
        op.argument = this;
        return 0;
    }

    static void invoke(void* it) noexcept {
        auto& self = *static_cast<blocking_call*>(it);
        run_catching(self.failure_, [&] {
            if constexpr (std::is_void_v<Result>) {
                self.function_();
            } else {
                self.value_.emplace(self.function_());
            }
        });
    }

    [[nodiscard]] auto operator()(call_operation& op) {
        using outcome = std::conditional_t<std::is_void_v<Result>, std::type_identity<io_result<>>,
                                           std::type_identity<io_result<Result>>>;
        using result = typename outcome::type;
        if (const error failed = error_of(op)) return result{failed};
        failure_.rethrow_if_any();
        if constexpr (std::is_void_v<Result>) {
            return result{};
        } else {
            return result{std::move(*value_)};
        }
    }

private:
    struct nothing {};

    Function function_;
    std::optional<std::conditional_t<std::is_void_v<Result>, nothing, Result>> value_;
    [[no_unique_address]] exception_slot failure_;
};

/// What `blocking` returns.
template <class Function>
[[nodiscard]] auto make_blocking_call(Function function) {
    using call = blocking_call<Function, std::invoke_result_t<Function&>>;
    return submission<call_operation, call>{call_operation{&call::invoke, nullptr},
                                            call{std::move(function)}};
}

/// Runs `function()` on one of the loop's worker threads.
///
/// @param  function  Owned; must not touch the coroutine's own data while others may. With g++ 12 give a
///                   lambda with captures a name first (docs/guide/compilers.md).
/// @return `io_result` of what it returns; `io_result<>` for void. Its exception is rethrown here.
///
/// Errors:        none but cancellation as long as there is a worker. Where not even the first one can be
///                started, what pthread_create(3) says, as a rule `errc::resource_unavailable`; then
///                `function` was not called.
/// Cancellation:  `errc::canceled` if it has not begun; a call that has begun is waited for. A frame that is
///                destroyed while `function` runs is a failed check: only the program knows what that waits
///                for.
/// Threads:       `function` runs on a worker, the coroutine resumes on its own executor. Signals are
///                blocked there as on the thread that made the pool or first called this on its own
///                loop: children inherit what the program chose, and handlers may run there.
/// Cost:          two thread switches, tens of microseconds.
template <class Function>
[[nodiscard]] auto blocking(Function&& function) {
    return make_blocking_call<std::decay_t<Function>>(std::forward<Function>(function));
}

/// The same, for what g++ 12 may destroy twice.
template <maybe_destroyed_twice Function>
[[nodiscard,
  deprecated(
      "g++ 12 destroys a temporary lambda twice in a co_await: give it a name, and pass that")]]
auto blocking(Function&& function) {
    return make_blocking_call<Function>(std::forward<Function>(function));
}

}  // namespace gyre
