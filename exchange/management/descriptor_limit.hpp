// SPDX-License-Identifier: BSL-1.0
//
// How many descriptors a facility can come to need, and whether the process may have as many.
//
// The usual limit of a process, 1,024, is below what a facility may be configured for. When it is reached,
// who connects waits in the kernel and is told nothing, participants among them. So the facility asks for
// what it needs, and begins nothing if it cannot have that.
#pragma once

#include <exchange/management/config.hpp>

#include <cstdint>
#include <optional>

namespace exchange {

/// A descriptor for each connection, and what the facility opens beside them.
[[nodiscard]] std::uint64_t descriptors_needed(const config& of) noexcept;

/// Raises the limit of this process (`RLIMIT_NOFILE`) as far as that, and never lowers it.
///
/// @return What to lower, or nothing.
[[nodiscard]] std::optional<config_error> allow_descriptors(std::uint64_t needed);

}  // namespace exchange
