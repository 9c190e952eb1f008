// SPDX-License-Identifier: BSL-1.0
//
// A child of a group that yields a value, and nobody to take it.
//
// must not compile: spawn.child, on_exit.
#include <gyre/sync/task_group.hpp>

gyre::task<int> answer();

void spawn_it(gyre::task_group& group) { group.spawn(answer()); }
