// SPDX-License-Identifier: BSL-1.0
//
// The methods and the versions of HTTP that programs tell apart.
//
// A request keeps the text of its method as well (request.hpp), so that one that is not listed here can be
// routed and answered like any other.
#pragma once

#include <cstdint>
#include <string_view>

namespace gyre::http {

/// A method of RFC 9110, section 9, PATCH, or another.
enum class method : std::uint8_t {
    get,
    head,
    post,
    put,
    delete_resource,
    connect,
    options,
    trace,
    patch,
    other  ///< The request's `method_text` says which.
};

/// Which HTTP a message came in, or goes out in.
enum class version : std::uint8_t { http_1_0, http_1_1, http_2 };

/// The method of this name, which has cases; `method::other` if it is not listed.
[[nodiscard]] method method_of(std::string_view name) noexcept;

/// "GET", ...; empty for `method::other`. Static storage.
[[nodiscard]] std::string_view name_of(method which) noexcept;

/// "HTTP/1.1", ...; static storage.
[[nodiscard]] std::string_view name_of(version which) noexcept;

/// Whether a request of this method changes nothing, so that it may be sent again unasked.
[[nodiscard]] constexpr bool is_safe(method which) noexcept {
    return which == method::get || which == method::head || which == method::options ||
           which == method::trace;
}

/// Whether sending it twice has the effect of sending it once.
[[nodiscard]] constexpr bool is_idempotent(method which) noexcept {
    return is_safe(which) || which == method::put || which == method::delete_resource;
}

}  // namespace gyre::http
