// SPDX-License-Identifier: BSL-1.0
//
// The parts of a task's result before it has one.
//
// must not compile: co_await is missing
#include <gyre/base/result.hpp>
#include <gyre/coro/task.hpp>

gyre::task<gyre::io_result<int>> ask();

gyre::task<int> ask_once() {
    auto [error, number] = ask();
    co_return error ? 0 : number;
}
