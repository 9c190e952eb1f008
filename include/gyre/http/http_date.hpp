// SPDX-License-Identifier: BSL-1.0
//
// Dates as HTTP writes them, and the present one without formatting it for each response.
#pragma once

#include <gyre/base/build.hpp>
#include <gyre/base/time.hpp>

#include <array>
#include <chrono>
#include <functional>
#include <optional>
#include <string_view>

namespace gyre::http {

/// "Sun, 06 Nov 1994 08:49:37 GMT".
using http_date_text = std::array<char, 29>;

/// A moment as fields of HTTP have it, in seconds.
///
/// @param  when  From the year 0 to 9999.
// RFC 9110, 5.6.7.
[[nodiscard]] http_date_text format_http_date(std::chrono::sys_seconds when) noexcept;

/// Reads a date in the form above, or in one of the two obsolete ones, which every recipient must read:
/// "Sunday, 06-Nov-94 08:49:37 GMT" and "Sun Nov  6 08:49:37 1994".
///
/// @param  present  A year of two digits is of the hundred that end fifty years after it.
/// @return Nothing if `text` is anything else, or names another day of the week than the date has.
// RFC 9110, 5.6.7.
[[nodiscard]] std::optional<std::chrono::sys_seconds> parse_http_date(
    std::string_view text,
    std::chrono::system_clock::time_point present = std::chrono::system_clock::now()) noexcept;

/// The line `date: ...` of the present second, with its line ending. One for each loop, shared by the
/// connections there, or one for each connection. Belongs to one loop.
class date_cache {
public:
    using clock_function = std::function<std::chrono::system_clock::time_point()>;

    /// The system's clock. Cost: nothing.
    date_cache() noexcept = default;
    /// @param  clock  Owned; asked at most once a second.
    explicit date_cache(clock_function clock) noexcept : clock_{std::move(clock)} {}

    /// @param  now  Of the loop: the line is made anew when a second has passed by this clock.
    [[nodiscard]] std::string_view line(time_point now) noexcept GYRE_LIFETIMEBOUND;

private:
    static constexpr std::string_view name = "date: ";

    clock_function clock_;
    time_point good_until_ = time_point::min();
    std::array<char, name.size() + std::tuple_size_v<http_date_text> + 2> line_{};
};

}  // namespace gyre::http
