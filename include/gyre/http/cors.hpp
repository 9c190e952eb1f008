// SPDX-License-Identifier: BSL-1.0
//
// Which other sites' scripts may use a service: cross-origin resource sharing, as browsers ask for it.
#pragma once

#include <gyre/http/handler.hpp>

#include <chrono>
#include <string>
#include <vector>

namespace gyre::http {

/// A policy.
struct cors_policy {
    /// Exactly, as "https://app.example"; `*` is any, and then nothing goes with credentials.
    std::vector<std::string> origins;
    std::vector<std::string> methods = {"GET", "HEAD", "POST"};
    std::vector<std::string> request_fields;   ///< That scripts may set.
    std::vector<std::string> response_fields;  ///< That scripts may see.
    bool with_credentials = false;  ///< Scripts may see answers to requests with cookies.
    std::chrono::seconds remembered_for = std::chrono::minutes{10};  ///< By the browser.
};

/// Answers preflights, and marks answers for the origins that the policy names. Others are answered as ever,
/// without the mark: their browser keeps the answer from the script.
///
/// @pre  `with_credentials` does not stand beside the origin `*`; the others have a scheme, small letters and
///       no slash at their end.
[[nodiscard]] middleware allow_origins(cors_policy policy);

}  // namespace gyre::http
