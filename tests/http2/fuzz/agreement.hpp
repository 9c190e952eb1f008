// SPDX-License-Identifier: BSL-1.0
//
// One message read by HTTP/1 and by HTTP/2, and its target by web::url: functions that abort where they
// disagree.
//
// A check in front of one reader protects another one only if both read the same. agreement.cpp names the
// differences by design, each with its clause; everything else is a finding.
#pragma once

#include <gyre/base/buffer.hpp>

#include <cstddef>
#include <string_view>

namespace gyre::testing {

/// @param  input  Lines, with line feeds between them: the method, the authority, the target, and a field in
///                each further line. A line that begins with a colon is a pseudo-field.
void fuzz_request_agreement(const_buffer input);

/// @param  input  The same: the status, and a field in each further line.
void fuzz_response_agreement(const_buffer input);

/// Inputs to begin with; `which` may be any number.
[[nodiscard]] std::string_view request_agreement_seed(std::size_t which) noexcept;
[[nodiscard]] std::string_view response_agreement_seed(std::size_t which) noexcept;

}  // namespace gyre::testing
