// SPDX-License-Identifier: BSL-1.0
//
// Credentials in a request: Basic and Bearer, read, written and asked for.
#pragma once

#include <gyre/http/fields.hpp>
#include <gyre/http/handler.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace gyre::http {

/// What Basic carries.
struct basic_credentials {
    std::string user;
    std::string password;
};

/// Of the field Authorization; nothing if it is missing, of another scheme or malformed.
// RFC 7617, 2.
[[nodiscard]] std::optional<basic_credentials> basic_credentials_of(const fields& from);

/// Sets the field. A user with a colon cannot be told from another, and is refused as in `fields::add`.
void set_basic_credentials(fields& of, const basic_credentials& what);

/// The token of a field Authorization of scheme Bearer; a view of `from`.
// RFC 6750, 2.1.
[[nodiscard]] std::optional<std::string_view> bearer_token_of(const fields& from) noexcept;

/// Sets the field. What is no token, as an empty one or one with a blank, is refused as in `fields::add`.
void set_bearer_token(fields& of, std::string_view token);

/// Whether two texts are the same, in a time that depends on the size of `given` only: for secrets.
[[nodiscard]] bool equal_in_constant_time(std::string_view given, std::string_view secret) noexcept;

/// Lets requests pass whose credentials `admits`; the others are answered with 401.
///
/// @param  realm   Copied. Shown to users; without quotes, backslashes and controls.
/// @param  admits  Owned. On the connections' loops; it does not wait.
[[nodiscard]] middleware require_basic(std::string_view realm,
                                       std::function<bool(const basic_credentials&)> admits);
[[nodiscard]] middleware require_bearer(std::string_view realm,
                                        std::function<bool(std::string_view token)> admits);

/// RFC 4648, 4, with padding; nothing of what is not that exactly.
[[nodiscard]] std::optional<std::string> base64_decoded(std::string_view text);

/// `bytes` as RFC 4648, 4, has them, with padding.
[[nodiscard]] std::string base64_encoded(std::string_view bytes);

}  // namespace gyre::http
