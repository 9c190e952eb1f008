// SPDX-License-Identifier: BSL-1.0
//
// Forms as text: application/x-www-form-urlencoded. multipart_reader.hpp has those with files.
#pragma once

#include <gyre/base/result.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/http/request.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gyre::http {

/// A form's pairs, decoded, in order.
class form {
public:
    struct pair {
        std::string name;
        std::string value;
    };

    form() noexcept = default;

    /// Takes a form, or the query of a URL, apart.
    ///
    /// @param  pairs_max  More is an error.
    ///
    /// Errors:  `errc::malformed` for an incomplete escape or a NUL; `errc::limit_exceeded`.
    [[nodiscard]] static io_result<form> parse(std::string_view text, std::size_t pairs_max = 1000);

    /// Adds a pair, for a form to be sent.
    form& add(std::string_view name, std::string_view value);

    /// The value of the first pair of this name.
    [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const noexcept
        GYRE_LIFETIMEBOUND;

    [[nodiscard]] const std::vector<pair>& pairs() const noexcept GYRE_LIFETIMEBOUND {
        return pairs_;
    }

    /// As it is sent.
    [[nodiscard]] std::string encoded() const;

private:
    std::vector<pair> pairs_;
};

/// Reads the body of `from` as such a form.
///
/// @param  from       Borrowed until completion.
/// @param  bytes_max  Of the body.
///
/// Errors:        `errc::not_supported` if the content is of another type; those of `body_reader::read_all`
///                and `form::parse`.
/// Cancellation:  `errc::canceled`.
/// Threads:       resumes on the caller's executor.
/// Cost:          two frames; a copy of the body, and one of each pair.
[[nodiscard]] task<io_result<form>> read_form(const request& from,
                                              std::size_t bytes_max = std::size_t{64} << 10);

/// Whether the content's type is `type`, whatever its parameters: `has_content_type(fields, "text/html")`.
[[nodiscard]] bool has_content_type(const fields& of, std::string_view type) noexcept;

/// A parameter of a field's value, as `boundary` of Content-Type: without quotes around it and escapes in it.
/// Nothing if there is none.
// RFC 9110, 5.6.6.
[[nodiscard]] std::optional<std::string> parameter_of(std::string_view value,
                                                      std::string_view name);

}  // namespace gyre::http
