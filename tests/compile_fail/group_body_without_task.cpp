// SPDX-License-Identifier: BSL-1.0
//
// A lambda that says no return type and awaits nothing is no coroutine.
//
// must not compile: the body of a group is a coroutine
#include <gyre/sync/task_group.hpp>

gyre::task<> child();

gyre::task<> run_group() {
    co_await gyre::with_group([](gyre::task_group& group) { group.spawn(child()); });
}
