// SPDX-License-Identifier: BSL-1.0
//
// How much of something a process may use, as an option of its start: io/process.hpp.
#pragma once

#include <cstdint>

namespace gyre {

/// How much of a resource a process may use (setrlimit(2)).
struct resource_limit {
    static constexpr std::uint64_t unlimited = ~std::uint64_t{0};

    resource_limit() noexcept = default;
    resource_limit(int of, std::uint64_t both) noexcept : resource_limit{of, both, both} {}
    resource_limit(int of, std::uint64_t now, std::uint64_t later) noexcept
        : resource{of}, value{now}, value_max{later} {}

    int resource = 0;                     ///< Such as RLIMIT_NOFILE, of <sys/resource.h>.
    std::uint64_t value = unlimited;      ///< In the resource's unit: descriptors, bytes, ...
    std::uint64_t value_max = unlimited;  ///< Up to which the process may raise that.
};

}  // namespace gyre
