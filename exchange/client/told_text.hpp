// SPDX-License-Identifier: BSL-1.0
//
// A sentence in news, which are copied and hold no memory.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace exchange {

/// Text of which the beginning is kept.
class told_text {
public:
    static constexpr std::size_t bytes_max = 120;

    told_text() noexcept = default;
    explicit told_text(std::string_view text) noexcept
        : size_{static_cast<unsigned char>(std::min(text.size(), bytes_max))} {
        std::ranges::copy(text.substr(0, size_), text_.begin());
    }

    [[nodiscard]] std::string_view view() const noexcept { return {text_.data(), size_}; }

private:
    std::array<char, bytes_max> text_{};
    unsigned char size_ = 0;
};

}  // namespace exchange
