// SPDX-License-Identifier: BSL-1.0
//
// Passing control between coroutines without growing the stack.
//
// Where the compiler makes symmetric transfer a tail call a transfer is just that. Where it does not
// (g++ below -O2, or under ASan: docs/guide/compilers.md) it is written down and carried out by the
// caller of `resume`, so a million awaits in a loop use one stack frame on every build. One program may
// have objects of both kinds, so `resume` always looks at the note.
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
[[gnu::visibility("default")]] extern constinit thread_local void* noted_transfer;

/// What the `await_suspend` that the compiler itself calls returns to hand control to `next`: that of
/// the wrapper that `await_transform` returns, or of a promise's own awaiters. Awaitables below them
/// return plain handles.
///
/// It and those functions are always inlined: the linker keeps one body of an inline function, and that
/// of another compiler would transfer as suits the other one.
[[nodiscard, gnu::always_inline]] inline std::coroutine_handle<> transfer(
    std::coroutine_handle<> next) noexcept {
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
    while (noted_transfer != nullptr) [[unlikely]] {
        std::coroutine_handle<>::from_address(std::exchange(noted_transfer, nullptr)).resume();
    }
}

}  // namespace gyre
