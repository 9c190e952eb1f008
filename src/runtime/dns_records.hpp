// SPDX-License-Identifier: BSL-1.0
//
// What c-ares says, in our words: its errors, and the records of an answer.
//
// For dns_query.cpp, which tells when c-ares is asked.
#pragma once

#include <gyre/runtime/dns_query.hpp>

namespace gyre {

/// What a status of c-ares means to those who ask.
[[nodiscard]] error error_of_status(int status) noexcept;

/// The status of c-ares for a response code: RFC 1035 4.1.1.
[[nodiscard]] int status_of_code(int response_code) noexcept;

/// The number of a type of records.
[[nodiscard]] int type_of(dns_record what) noexcept;

/// Reads a message without an error into `into`. Returns a status of c-ares.
[[nodiscard]] int read_answer(dns_record what, const unsigned char* answer, int size,
                              dns_answer& into);

}  // namespace gyre
