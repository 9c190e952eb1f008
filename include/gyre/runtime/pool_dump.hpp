// SPDX-License-Identifier: BSL-1.0
//
// Which coroutine waits for what on any loop of a pool: coro/task_dump.hpp for several threads.
//
// A loop is walked by its own thread only, so each is asked by a post. One that does not answer is held up
// by a coroutine that blocks or computes, which is worth as much to know.
#pragma once

#include <gyre/base/time.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/runtime/io_pool.hpp>

#include <chrono>
#include <string>

namespace gyre {

/// The `dump_tasks` of each loop, below a line with its number. Of one that has not answered the line tells
/// for how long its turn has lasted.
///
/// @param  of        Borrowed; outlives the answers of all its loops, as it does what is posted to it.
/// @param  patience  How long to wait for all answers together.
///
/// Errors:        none.
/// Cancellation:  ends the wait; those that have answered are told.
/// Threads:       any loop, also one of the pool's. Elsewhere `run(dump_tasks(pool))`.
/// Cost:          a post to each loop, which wakes it; there as `dump_tasks`.
[[nodiscard]] task<std::string> dump_tasks(io_pool& of,
                                           duration patience = std::chrono::seconds{1});

}  // namespace gyre
