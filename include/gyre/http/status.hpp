// SPDX-License-Identifier: BSL-1.0
//
// The status codes of HTTP, by name.
//
// A response holds any number of three digits; these are the ones that have a registered name.
#pragma once

#include <cstdint>
#include <string_view>

namespace gyre::http {

/// A status code: 100 to 599 can be sent.
enum class status : std::uint16_t {
    continue_request = 100,
    switching_protocols = 101,
    early_hints = 103,
    ok = 200,
    created = 201,
    accepted = 202,
    no_content = 204,
    reset_content = 205,
    partial_content = 206,
    moved_permanently = 301,
    found = 302,
    see_other = 303,
    not_modified = 304,
    temporary_redirect = 307,
    permanent_redirect = 308,
    bad_request = 400,
    unauthorized = 401,
    forbidden = 403,
    not_found = 404,
    method_not_allowed = 405,
    not_acceptable = 406,
    request_timeout = 408,
    conflict = 409,
    gone = 410,
    length_required = 411,
    precondition_failed = 412,
    content_too_large = 413,
    uri_too_long = 414,
    unsupported_media_type = 415,
    range_not_satisfiable = 416,
    expectation_failed = 417,
    misdirected_request = 421,
    unprocessable_content = 422,
    upgrade_required = 426,
    too_many_requests = 429,
    header_fields_too_large = 431,
    internal_server_error = 500,
    not_implemented = 501,
    bad_gateway = 502,
    service_unavailable = 503,
    gateway_timeout = 504,
    version_not_supported = 505
};

/// The registered reason phrase, "Not Found"; empty for a code without one. Static storage.
[[nodiscard]] std::string_view reason_of(status code) noexcept;

/// The three digits of the status line: 404 of `status::not_found`.
[[nodiscard]] constexpr unsigned number_of(status code) noexcept {
    return static_cast<unsigned>(code);
}

/// Whether it announces a final response that is still to come.
[[nodiscard]] constexpr bool is_interim(status code) noexcept { return number_of(code) < 200; }

/// Whether a response with this code never has a body, whatever its fields say.
// RFC 9110, 6.4.1.
[[nodiscard]] constexpr bool forbids_body(status code) noexcept {
    return is_interim(code) || code == status::no_content || code == status::not_modified;
}

}  // namespace gyre::http
