// SPDX-License-Identifier: BSL-1.0
//
// The results of two things that are not awaited.
//
// must not compile: co_await is missing
#include <gyre/coro/task.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/when_all.hpp>

gyre::task<bool> sleep_twice(gyre::duration wait) {
    auto [first, second] = gyre::when_all(gyre::sleep_for(wait), gyre::sleep_for(wait));
    co_return first.ok() && second.ok();
}
