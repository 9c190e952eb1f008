// SPDX-License-Identifier: BSL-1.0
//
// A task runs once, so awaiting one by name, which invites to do it twice, takes a std::move.
//
// must not compile: co_await std::move
#include <gyre/coro/task.hpp>

// snippet: await_task_lvalue
gyre::task<int> answer();

gyre::task<int> ask_twice() {
    gyre::task<int> it = answer();
    const int first = co_await it;
    const int second = co_await it;
    co_return first + second;
}
// end of snippet
