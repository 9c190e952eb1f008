// SPDX-License-Identifier: BSL-1.0
//
// Messages as lines of text: what a golden stream is written in, and what a failed test shows.
#pragma once

#include <exchange/core/events.hpp>

#include <string>

namespace exchange::testing {

/// Every field of the message that is alive, in a fixed order, on one line.
[[nodiscard]] std::string describe(const event& it);

}  // namespace exchange::testing
