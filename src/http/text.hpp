// SPDX-License-Identifier: BSL-1.0
//
// The few steps over text that all readers of HTTP take, so that they agree about what a blank is.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace gyre::http {

// RFC 9110, 5.6.3.
[[nodiscard]] constexpr bool is_blank(char c) noexcept { return c == ' ' || c == '\t'; }

/// `text` without blanks at either end.
[[nodiscard]] constexpr std::string_view trimmed(std::string_view text) noexcept {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    return text;
}

/// Whether `c` is a control other than the tab.
[[nodiscard]] constexpr bool is_control(char c) noexcept {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && byte != '\t') || byte == 0x7f;
}

/// Whether there is such a control in `text`; eight bytes at a time.
[[nodiscard]] inline bool has_control(std::string_view text) noexcept {
    constexpr std::uint64_t each = 0x0101'0101'0101'0101;
    constexpr std::uint64_t high = 0x80 * each;
    while (text.size() >= sizeof(std::uint64_t)) {
        std::uint64_t bytes = 0;
        std::memcpy(&bytes, text.data(), sizeof bytes);
        const std::uint64_t below_blank = (bytes - 0x20 * each) & ~bytes & high;
        const std::uint64_t differs = bytes ^ 0x7f * each;
        const std::uint64_t is_delete = (differs - each) & ~differs & high;
        // A tab is below a blank, too, and a borrow may mark what stands above a control.
        if ((below_blank | is_delete) != 0) break;
        text.remove_prefix(sizeof bytes);
    }
    for (const char c : text) {
        if (is_control(c)) return true;
    }
    return false;
}

/// The value of a hexadecimal digit; -1 of anything else.
[[nodiscard]] constexpr int hex_digit_of(char c) noexcept {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

}  // namespace gyre::http
