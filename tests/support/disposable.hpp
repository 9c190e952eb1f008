// SPDX-License-Identifier: BSL-1.0
//
// A coroutine whose frame its owner destroys whenever it likes.
//
// The library has none: a task ends by itself. But what a frame awaits has to survive its end, and that is
// tested with this one. The owner gives it an environment, resumes it, and destroys it exactly once.
#pragma once

#include <gyre/coro/task.hpp>

#include <coroutine>
#include <exception>

namespace gyre::testing {

struct disposable {
    struct promise_type : task_node {
        disposable get_return_object() noexcept {
            return {std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_always initial_suspend() const noexcept { return {}; }
        std::suspend_always final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); }
    };

    std::coroutine_handle<promise_type> frame;
};

}  // namespace gyre::testing
