// SPDX-License-Identifier: BSL-1.0
//
// Passing control between coroutines without growing the stack.
//
// Where the compiler makes symmetric transfer a tail call this file melts away. Where it does not
// (g++ below -O2, or under ASan: docs/guide/compilers.md) a transfer is written down and carried
// out by the caller of `resume`, so a million awaits in a loop use one stack frame on every build.
#pragma once

#include <gyre/base/build.hpp>

#include <coroutine>
#include <utility>

namespace gyre {

/// A coroutine handle made by hand: resuming it calls a function.
///
/// g++ and clang start every coroutine frame with two pointers, the function that resumes and the
/// one that destroys; tests/toolchain/callback_frame_test.cpp holds them to it. It lets combinators
/// and loops over a stream await any awaitable without a coroutine, hence without a frame, of their
/// own. Lives inside its owner; never copied while awaited.
struct callback_frame {
    using function = void (*)(callback_frame*);

    explicit callback_frame(function on_resume) noexcept : resume{on_resume} {}

    [[nodiscard]] std::coroutine_handle<> handle() noexcept {
        return std::coroutine_handle<>::from_address(this);
    }

    function resume;
    function destroy = [](callback_frame*) {};
};

// Part of the frame-allocator window's sanction: it too is set and taken within one resumption.
inline constinit thread_local void* noted_transfer = nullptr;

/// What an `await_suspend` returns to hand control to `next`.
[[nodiscard]] inline std::coroutine_handle<> transfer(std::coroutine_handle<> next) noexcept {
    if constexpr (symmetric_transfer_is_tail_call) {
        return next;
    } else {
        noted_transfer = next.address();
        return std::noop_coroutine();
    }
}

/// Resumes `next`, and whatever control is passed on to, until something suspends. Every resumption
/// from outside a coroutine goes through here.
inline void resume(std::coroutine_handle<> next) {
    next.resume();
    if constexpr (!symmetric_transfer_is_tail_call) {
        while (void* noted = std::exchange(noted_transfer, nullptr)) {
            std::coroutine_handle<>::from_address(noted).resume();
        }
    }
}

}  // namespace gyre
