// SPDX-License-Identifier: BSL-1.0
//
// The grammar of what a request is sent to: hosts, ports, paths and queries.
//
// HTTP/1, HTTP/2 and web::url ask it, as servers and as clients. A target that one of them takes and another
// one refuses, or reads differently, gets past checks: see decision 0067. Names and values of fields have
// their grammar in fields.hpp.
#pragma once

#include <gyre/base/build.hpp>
#include <gyre/http/method.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace gyre::http {

/// Host and port; both are views of the text they were read from.
struct authority_parts {
    std::string_view host;  ///< A name, an IPv4 address, or an IPv6 address without its brackets.
    std::string_view port;  ///< Its digits, 1 to 65535; empty if there is none.
    bool is_bracketed = false;  ///< True if the host is an IPv6 address.
};

/// Reads `host`, `host:port`, `[IPv6]` or `[IPv6]:port`. A colon without a port may follow the host.
///
/// @return Nothing if `text` is anything else: empty, with user information, with a percent-encoded name, or
///         with a name of more than 253 characters.
// RFC 3986, 3.2; RFC 9110, 4.2.1 and 4.2.4.
[[nodiscard]] std::optional<authority_parts> read_authority(
    std::string_view text GYRE_LIFETIMEBOUND) noexcept;

/// True if `read_authority` reads `text`.
[[nodiscard]] bool is_authority(std::string_view text) noexcept;

/// True if `text` is a path that begins with a slash, and perhaps a query.
///
/// The path has the characters of RFC 3986 and six that clients send without their escapes: `[]|^{}` and the
/// grave accent; each percent sign begins an escape. The query has any visible character of ASCII but `#`.
// RFC 3986, 3.3 and 3.4; RFC 9112, 3.2.1.
[[nodiscard]] bool is_path_and_query(std::string_view text) noexcept;

/// "http" or "https" if `text` is one of them in any case; else empty. Static storage.
// RFC 3986, 3.1; RFC 9110, 4.2.
[[nodiscard]] std::string_view http_scheme_of(std::string_view text) noexcept;

/// A target, taken apart; all views are of its text, or static.
struct target_parts {
    enum class form : std::uint8_t { origin, absolute, authority, asterisk };

    form as = form::origin;
    std::string_view scheme;          ///< Of `form::absolute`: "http" or "https".
    std::string_view authority;       ///< Of `form::absolute` and `form::authority`.
    std::string_view path_and_query;  ///< Of `form::absolute` it may be empty, or begin with `?`.
};

/// Reads the target of a request by `asked`, in one of the four forms that its method allows.
///
/// @return Nothing if it has no such form. `form::authority` is for CONNECT only, and has a port;
///         `form::asterisk` is for OPTIONS only.
// RFC 9112, 3.2; RFC 9110, 9.3.6.
[[nodiscard]] std::optional<target_parts> read_target(
    method asked, std::string_view text GYRE_LIFETIMEBOUND) noexcept;

}  // namespace gyre::http
