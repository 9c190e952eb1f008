// SPDX-License-Identifier: BSL-1.0
//
// Entity tags and conditional requests: who has a resource already is told so instead of getting it again.
#pragma once

#include <gyre/base/buffer.hpp>
#include <gyre/http/handler.hpp>
#include <gyre/http/request.hpp>
#include <gyre/http/status.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace gyre::http {

/// A strong tag, quotes included, that tells contents apart: of their size and a hash of 64 bits, which
/// does not withstand an author who looks for a collision.
[[nodiscard]] std::string etag_of(const_buffer content);

/// What is known of a resource.
struct validators {
    std::string_view
        etag;  ///< With quotes, and `W/` in front of a weak one; empty if there is none.
    std::optional<std::chrono::sys_seconds> last_modified;
};

/// Whether the request's conditions keep it from being answered with the resource: `status::not_modified` or
/// `status::precondition_failed`; nothing if it is to be carried out.
// RFC 9110, 13.2.2.
[[nodiscard]] std::optional<status> judge_conditions(const request& what, validators resource);

/// Whether a request with Range and If-Range is to get the range: its validator, if there is one, holds
/// still.
// RFC 9110, 13.1.5.
[[nodiscard]] bool range_still_holds(const request& what, validators resource);

/// Gives answers of 200 to GET and HEAD a tag, unless they have one or their body is still to be produced,
/// and answers conditional requests.
[[nodiscard]] middleware conditional_requests();

}  // namespace gyre::http
