// SPDX-License-Identifier: BSL-1.0
//
// The suite in which a server is measured alone.
//
// Elsewhere both ends of a connection share one loop, so what a contender costs is mixed with what its
// peer costs. Here the contender is a process on a core of its own, and the load another one on
// another core, the same for everybody; the server's processor time is read from outside.
#pragma once

#include <lab/contender.hpp>

#include <string>
#include <vector>

namespace lab {

/// Starts `who` as a server in a child process, loads it from this one, and waits for its end.
///
/// The amount is requests answered within the measured time; `spent.processor` is the server's alone.
/// The server runs on the first cores this process may use, as many as it has threads, the load on the
/// next one (see `split_cores`). Every byte is verified, while warming up and later; that TCP_NODELAY
/// is set is looked up in between.
[[nodiscard]] outcome measure_echo(contender& who, const echo_case& work);

/// The same for a program that keeps to the seam of server_process.hpp.
[[nodiscard]] outcome measure_echo(const std::vector<std::string>& program, const echo_case& work);

}  // namespace lab
