// SPDX-License-Identifier: BSL-1.0
//
// Without await_ready: the message has to say what an awaitable needs and where to read on.
//
// must not compile: not awaitable in a gyre coroutine
#include <gyre/coro/task.hpp>

struct half {
    void await_suspend(std::coroutine_handle<>, const gyre::environment*) noexcept {}
    void await_resume() noexcept {}
};

gyre::task<> wait() {
    half it;
    co_await it;
}
