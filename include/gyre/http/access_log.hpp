// SPDX-License-Identifier: BSL-1.0
//
// One record for each request, for a program's log.
#pragma once

#include <gyre/base/time.hpp>
#include <gyre/http/handler.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace gyre::http {

/// What is logged of a request; views are valid during the call.
struct access_record {
    const request& asked;
    const response& answer;
    std::optional<std::uint64_t> body_bytes;  ///< Of the answer, if known before it is sent.
    duration took;  ///< Until the handler had its answer, not until that was sent.
};

/// Tells `write` of each request once it has an answer. On the connections' loops; it must not wait.
[[nodiscard]] middleware access_log(std::function<void(const access_record&)> write);

/// The record as a line of the combined log format, without its end. What the peer sent is escaped: quotes,
/// backslashes and whatever is not printable ASCII.
[[nodiscard]] std::string combined_log_line(const access_record& it, std::chrono::sys_seconds when);

}  // namespace gyre::http
