// SPDX-License-Identifier: BSL-1.0
//
// Percent-encoding: bytes in the parts of a URI, and in forms.
//
// Requests keep their targets as they were sent, because decoding loses what was a separator; this decodes a
// part once it is known to be one.
#pragma once

#include <gyre/base/result.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gyre::http {

/// What a plus sign means.
enum class plus_sign : std::uint8_t {
    itself,   ///< In paths and URIs.
    is_space  ///< In forms, and so in queries.
};

/// `text` with its escapes replaced by the bytes that they stand for.
///
/// Errors:  `errc::malformed` if a percent sign has not two hexadecimal digits behind it, or they are 00,
///          which ends a path for every system call.
// RFC 3986, 2.1.
[[nodiscard]] io_result<std::string> percent_decoded(std::string_view text,
                                                     plus_sign plus = plus_sign::itself);

/// `text` with everything but the unreserved characters as escapes, so that it can be any part of a URI.
// RFC 3986, 2.3.
[[nodiscard]] std::string percent_encoded(std::string_view text);

/// A name and a value of a form or a query, as they were sent.
struct encoded_pair {
    std::string_view name;
    std::string_view value;  ///< Empty as well if there was no equals sign.
};

/// The pairs of a query or a form, in order: for a loop until there is none.
class encoded_pairs {
public:
    /// @param  text  Borrowed.
    explicit encoded_pairs(std::string_view text) noexcept : rest_{text} {}

    [[nodiscard]] std::optional<encoded_pair> next() noexcept;

private:
    std::string_view rest_;
};

}  // namespace gyre::http
