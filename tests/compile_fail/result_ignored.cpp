// SPDX-License-Identifier: BSL-1.0
//
// A result that is not looked at hides a failure; `static_cast<void>` says that it is meant.
//
// must not compile: nodiscard|ignoring return
#include <gyre/coro/task.hpp>
#include <gyre/sync/event.hpp>

gyre::task<> wait(gyre::event& until) {
    const int begin = 0;
    static_cast<void>(begin);
    co_await until.wait();
}
