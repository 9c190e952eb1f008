// SPDX-License-Identifier: BSL-1.0
//
// Which coroutine is waiting for what: the answer to "why does it hang?".
//
// It walks from the loop's roots down the chains (stop.hpp) and the tree of awaits (task_node.hpp).
// A failed check prints it; programs may at any time.
#pragma once

#include <gyre/coro/environment.hpp>
#include <gyre/coro/stop.hpp>

#include <cstddef>
#include <source_location>
#include <string>

namespace gyre {

/// After so many lines a dump says that the rest is left out. The chain that it is at is told to its end.
inline constexpr std::size_t dump_lines_max = 10'000;

/// One line per pending coroutine, indented by depth: function, file, line, how long it has been
/// waiting, and what the innermost one is waiting for. Names stand in front, where they begin.
///
/// However deep a program recurses, the text has an end. It tells the first 64 and the last 32 of a chain of
/// awaits, and how many lie between; forks within each other 500 deep. Beyond a depth of 100 a line is
/// indented no further and begins with its depth: `[101] `.
///
/// Threads:  the loop's own thread, or none running it.
/// Cost:     linear in the number of pending coroutines, some nanoseconds for each that is not told;
///           allocates the text, of at most `dump_lines_max` and some lines.
[[nodiscard]] std::string dump_tasks(loop& of);

/// The same of one chain and what is below it.
[[nodiscard]] std::string dump_tasks(loop& of, const stop_chain& only);

/// The coroutine that `where` lies in, as the program names it: compilers may tell a function that they have
/// made of it. Allocates the text.
[[nodiscard]] std::string coroutine_name(const std::source_location& where);

}  // namespace gyre
