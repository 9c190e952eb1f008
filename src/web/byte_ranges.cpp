// SPDX-License-Identifier: BSL-1.0
#include <web/byte_ranges.hpp>

#include <gyre/http/fields.hpp>

#include <algorithm>
#include <charconv>
#include <optional>

namespace gyre::web {
namespace {

// Digits alone. A number past all sizes is one all the same: the greatest.
std::optional<std::uint64_t> position_of(std::string_view digits) noexcept {
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    if (digits.empty() || !std::all_of(digits.begin(), digits.end(), is_digit)) {
        return std::nullopt;
    }
    std::uint64_t number = 0;
    const auto [_, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return failed == std::errc{} ? number : UINT64_MAX;
}

// One element of the list. Nothing if it is malformed; a size of 0 if there is nothing of it.
std::optional<byte_range> range_of(std::string_view text, std::uint64_t size) noexcept {
    const std::size_t dash = text.find('-');
    if (dash == std::string_view::npos) return std::nullopt;
    const std::string_view from = text.substr(0, dash);
    const std::string_view to = text.substr(dash + 1);
    if (from.empty()) {
        const auto last = position_of(to);
        if (!last) return std::nullopt;
        const std::uint64_t count = std::min(*last, size);
        return byte_range{size - count, count};
    }
    const auto first = position_of(from);
    const auto last = to.empty() ? std::optional<std::uint64_t>{UINT64_MAX} : position_of(to);
    if (!first || !last || *last < *first) return std::nullopt;
    if (*first >= size) return byte_range{};
    return byte_range{*first, std::min(*last, size - 1) - *first + 1};
}

bool overlap(std::vector<byte_range> ranges) {
    std::sort(ranges.begin(), ranges.end(),
              [](const byte_range& a, const byte_range& b) { return a.first < b.first; });
    for (std::size_t at = 1; at < ranges.size(); ++at) {
        if (ranges[at - 1].first + ranges[at - 1].size > ranges[at].first) return true;
    }
    return false;
}

}  // namespace

// RFC 9110, 14.1.2 and 14.2.
wanted_ranges parse_ranges(std::string_view value, std::uint64_t size, std::size_t ranges_max) {
    constexpr std::string_view unit = "bytes=";
    wanted_ranges wanted;
    if (value.size() < unit.size() ||
        !http::equal_without_case(value.substr(0, unit.size()), unit)) {
        return wanted;
    }
    http::list_elements elements{value.substr(unit.size())};
    std::size_t count = 0;
    while (const auto element = elements.next()) {
        const std::optional<byte_range> one = range_of(*element, size);
        if (!one || ++count > ranges_max) return {};
        if (one->size > 0) wanted.ranges.push_back(*one);
    }
    if (count == 0 || overlap(wanted.ranges)) return {};
    wanted.what =
        wanted.ranges.empty() ? wanted_ranges::verdict::none : wanted_ranges::verdict::some;
    return wanted;
}

}  // namespace gyre::web
