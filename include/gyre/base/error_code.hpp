// SPDX-License-Identifier: BSL-1.0
//
// Conversion to and from std::error_code.
//
// It stands apart from error.hpp so that only its users pay for <system_error>.
#pragma once

#include <gyre/base/error.hpp>

#include <system_error>

namespace gyre {

/// The one category of all gyre errors. errno values map to `std::generic_category` conditions,
/// so `to_error_code(e) == std::errc::connection_refused` works.
[[nodiscard]] const std::error_category& error_category() noexcept;

/// The same failure as a `std::error_code`; the activity is lost.
[[nodiscard]] std::error_code to_error_code(error failure) noexcept;

}  // namespace gyre
