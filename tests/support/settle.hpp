// SPDX-License-Identifier: BSL-1.0
//
// How a test knows that what it has begun is waiting by now.
//
// A sleep of a millisecond says so on an idle machine only, and costs the millisecond on every one. What
// happens on a loop has an end that can be seen: `settle` turns the loop until nothing on it is left to run.
// What another thread does has none; it tells the test by a latch, and where it cannot (it has fallen asleep
// in the kernel, say), `eventually` looks now and then.
#pragma once

#include <gyre/coro/task.hpp>

#include <functional>

namespace gyre::testing {

/// Lets all other coroutines of the calling loop run until each of them waits: for the kernel, which has
/// been told, for a timer, for another thread or for the caller. Whatever the kernel could answer at once has
/// been answered. It does not wait for what another thread or a peer is still to do, nor longer than sixteen
/// turns for coroutines that are never out of work.
[[nodiscard]] task<> settle();

/// Blocks the calling thread until `happened()`, which it asks once a millisecond and sleeps in between, so
/// that those it waits for get the processor. False if patience ends first.
[[nodiscard]] bool eventually(const std::function<bool()>& happened);

}  // namespace gyre::testing
