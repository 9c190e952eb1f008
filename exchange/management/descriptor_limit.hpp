// SPDX-License-Identifier: BSL-1.0
//
// How many descriptors a facility or a gateway can come to need, and whether the process may have as many.
//
// The usual limit of a process, 1,024, is below what either may be configured for. When it is reached,
// who connects waits in the kernel and is told nothing, participants among them. So they ask for
// what they need, and begin nothing if they cannot have that.
#pragma once

#include <exchange/management/config.hpp>
#include <exchange/management/distributor_config.hpp>
#include <exchange/management/gateway_config.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace exchange {

/// A descriptor for each connection, and what the process opens beside them.
[[nodiscard]] std::uint64_t descriptors_needed(const config& of) noexcept;
[[nodiscard]] std::uint64_t descriptors_needed(const gateway_config& of) noexcept;
[[nodiscard]] std::uint64_t descriptors_needed(const distributor_config& of) noexcept;

/// Raises the limit of this process (`RLIMIT_NOFILE`) as far as that, and never lowers it.
///
/// @param  section  Of the configuration, which says how many connections there may be.
/// @return What to lower, or nothing.
[[nodiscard]] std::optional<config_error> allow_descriptors(
    std::uint64_t needed, const std::string& section = "order_entry");

}  // namespace exchange
