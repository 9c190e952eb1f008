// SPDX-License-Identifier: BSL-1.0
//
// Where a resource is: an absolute URL of http, https, ws or wss, taken apart.
//
// Strict on purpose: what two programs could read differently, such as user names in front of a host, blanks
// or backslashes, is refused instead of being repaired.
#pragma once

#include <gyre/base/result.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace gyre::web {

/// A URL. Value type; empty by default.
class url {
public:
    url() = default;

    /// Reads an absolute one; a fragment is dropped.
    ///
    /// Errors:  `errc::malformed`; `errc::not_supported` for a scheme that is none of the four.
    // RFC 3986, 3; RFC 9110, 4.2.
    [[nodiscard]] static io_result<url> parse(std::string_view text);

    /// What `reference` means where this one is the base, as the field Location has it.
    ///
    /// Errors:  as `parse`.
    // RFC 3986, 5.2.
    [[nodiscard]] io_result<url> resolved(std::string_view reference) const;

    [[nodiscard]] const std::string& scheme() const noexcept { return scheme_; }  ///< Lower case.
    [[nodiscard]] const std::string& host() const noexcept { return host_; }      ///< No brackets.
    [[nodiscard]] std::uint16_t port() const noexcept {
        return port_;
    }  ///< The scheme's, if unsaid.

    /// Path and query, never empty: what stands in a request.
    [[nodiscard]] const std::string& target() const noexcept { return target_; }

    /// The path alone.
    [[nodiscard]] std::string_view path() const noexcept;

    /// Host, in brackets if it is an IPv6 address, and the port unless it is the scheme's: for Host.
    [[nodiscard]] std::string authority() const;

    /// The same with the port in any case: for CONNECT.
    [[nodiscard]] std::string authority_with_port() const;

    [[nodiscard]] std::string to_string() const;

    /// Whether it wants TLS.
    [[nodiscard]] bool is_secure() const noexcept { return scheme_ == "https" || scheme_ == "wss"; }

    /// The same target at the scheme, host and port of `other`.
    [[nodiscard]] url at_origin_of(const url& other) const {
        url moved = other;
        moved.target_ = target_;
        return moved;
    }

    /// Whether both have scheme, host and port in common.
    // RFC 9110, 4.3.1.
    [[nodiscard]] bool same_origin(const url& other) const noexcept {
        return scheme_ == other.scheme_ && host_ == other.host_ && port_ == other.port_;
    }

    friend bool operator==(const url&, const url&) = default;

private:
    std::string scheme_;
    std::string host_;
    std::uint16_t port_ = 0;
    std::string target_;
};

}  // namespace gyre::web
