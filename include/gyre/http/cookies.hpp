// SPDX-License-Identifier: BSL-1.0
//
// Cookies of a request, and the line that sets one.
#pragma once

#include <gyre/http/fields.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gyre::http {

/// The value of the first cookie of this name, which has cases; a view of `of`, without quotes around it.
// RFC 6265, 5.4.
[[nodiscard]] std::optional<std::string_view> cookie_value(const fields& of,
                                                           std::string_view name) noexcept;

/// Which requests from other sites a cookie goes with.
enum class same_site : std::uint8_t { unsaid, strict, lax, none };

/// A cookie to be set. What is not said otherwise is safe: not readable by scripts, sent on secure
/// connections and with requests of the same site, until the browser ends.
struct cookie {
    std::string name;
    std::string value;
    std::string path = "/";  ///< Of the requests that it goes with: from here on.
    std::string domain;      ///< Empty: this host only.
    std::optional<std::chrono::seconds> lives;  ///< 0 or less removes it.
    bool for_http_only = true;                  ///< Scripts do not see it.
    bool for_secure_only = true;                ///< It goes with requests over TLS alone.
    same_site with = same_site::lax;
};

/// Adds a field Set-Cookie. What no cookie may have (a name that is no token; a value with blanks, quotes,
/// commas, semicolons or backslashes; a semicolon or control elsewhere) is refused as in `fields::add`.
// RFC 6265, 4.1.
void set_cookie(fields& of, const cookie& it);

}  // namespace gyre::http
