// SPDX-License-Identifier: BSL-1.0
//
// Text in a field of fixed width, as SoupBinTCP and MoldUDP64 have it: names, sessions, digits.
//
// On the wire it is filled up with blanks, on either side. Inside the program it is trimmed, so that two
// spellings of one session compare equal.
#pragma once

#include <gyre/base/check.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace exchange {

/// Text of at most `Size` characters, by value.
template <std::size_t Size>
class padded_text {
public:
    constexpr padded_text() noexcept = default;

    /// @param  text  At most `Size` characters.
    constexpr padded_text(std::string_view text) noexcept : size_{text.size()} {
        gyre::expects(text.size() <= Size, "text too long for its field");
        std::copy(text.begin(), text.end(), characters_.begin());
    }
    constexpr padded_text(const char* text) noexcept : padded_text{std::string_view{text}} {}

    [[nodiscard]] constexpr std::string_view view() const noexcept {
        return {characters_.data(), size_};
    }
    [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }
    friend constexpr bool operator==(const padded_text& left, const padded_text& right) noexcept {
        return left.view() == right.view();
    }

private:
    std::array<char, Size> characters_{};
    std::size_t size_ = 0;
};

/// Writes `text`, then blanks.
void pad_right(std::span<std::byte> field, std::string_view text) noexcept;

/// Writes blanks, then `text`.
void pad_left(std::span<std::byte> field, std::string_view text) noexcept;

/// The text in a field without the blanks around it. Borrowed from `field`.
///
/// @return Nothing if a character is not printable ASCII.
[[nodiscard]] std::optional<std::string_view> trimmed(std::span<const std::byte> field) noexcept;

}  // namespace exchange
