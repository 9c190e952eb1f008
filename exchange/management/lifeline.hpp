// SPDX-License-Identifier: BSL-1.0
//
// How a process of the exchange learns that the one which started it is gone, whichever way it ended.
//
// A supervisor gives each child the end of a pipe whose other end it alone has. When the supervisor ends,
// killed or not, the kernel closes that, and the child ends in order. A signal at the parent's death
// (prctl(2), PR_SET_PDEATHSIG) would be tied to the thread that started the child, which may end long before.
#pragma once

namespace exchange {

/// The environment variable that has the number of the pipe's end.
inline constexpr const char* lifeline_variable = "EXCHANGE_LIFELINE";

/// Sends SIGTERM to this process when the pipe that it was started with ends. Does nothing if there is none,
/// and forgets the announcement, so that children hear nothing of it.
///
/// @return  Is there one? Then the process that has started this one sees to its end.
///
/// Threads:  once, before there are others: it changes the environment.
/// Cost:     a thread that sleeps, if there is a pipe.
bool follow_lifeline();

}  // namespace exchange
