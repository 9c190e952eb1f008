// SPDX-License-Identifier: BSL-1.0
//
// Whether bytes are UTF-8, told at the first byte that cannot be, however they are cut.
//
// A text message must be UTF-8 as a whole, but its frames, and what one read brings of them, may end
// within a character. So the check is a small machine that remembers how far into a character it is.
#pragma once

#include <gyre/base/buffer.hpp>

#include <cstdint>

namespace gyre::websocket {

/// Checks one text from its first byte on. Copies.
class utf8_validator {
public:
    /// Takes the next bytes. False if the text can be no UTF-8 whatever follows; it stays false then.
    ///
    /// Cost:  eight ASCII characters at a time; each other byte by itself.
    [[nodiscard]] bool take(const_buffer bytes) noexcept;

    /// Whether what was taken ends with a whole character.
    [[nodiscard]] bool complete() const noexcept { return missing_ == 0 && !broken_; }

private:
    [[nodiscard]] bool begin(std::uint8_t first) noexcept;

    std::uint8_t missing_ = 0;  // Bytes that the character still needs; at most 3.
    // Between which the next of them has to be: these, but for the second of some characters.
    std::uint8_t low_ = 0x80;
    std::uint8_t high_ = 0xbf;
    bool broken_ = false;
};

/// Whether `bytes` are UTF-8 as a whole.
[[nodiscard]] inline bool is_utf8(const_buffer bytes) noexcept {
    utf8_validator check;
    return check.take(bytes) && check.complete();
}

}  // namespace gyre::websocket
