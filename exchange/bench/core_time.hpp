// SPDX-License-Identifier: BSL-1.0
//
// What an event costs without any I/O: the part of a span that no library can make shorter.
#pragma once

#include <exchange/bench/cells.hpp>

#include <gyre/base/time.hpp>

#include <vector>

namespace exchange::bench {

/// Gives the messages of `events` events to sessions of a host, as a facility does, and takes what
/// comes of it as if a socket had taken it.
///
/// @return Of each event, from its first message to the last byte: framing, decoding, matching, encoding
///         and gathering, and one reading of the clock.
[[nodiscard]] std::vector<gyre::duration> time_core(scenario_name which, book_state state,
                                                    std::size_t events);

}  // namespace exchange::bench
