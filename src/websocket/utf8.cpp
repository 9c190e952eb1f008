// SPDX-License-Identifier: BSL-1.0
#include <gyre/websocket/utf8.hpp>

#include <cstddef>
#include <cstring>

namespace gyre::websocket {

namespace {

// How many bytes at the front are ASCII, rounded down to whole words.
std::size_t ascii_words(const_buffer bytes) noexcept {
    constexpr std::uint64_t high_bits = 0x8080808080808080U;
    std::size_t count = 0;
    std::uint64_t word = 0;
    while (bytes.size() - count >= sizeof word) {
        std::memcpy(&word, bytes.data() + count, sizeof word);
        if ((word & high_bits) != 0) break;
        count += sizeof word;
    }
    return count;
}

}  // namespace

// RFC 3629, 4: no overlong forms, no surrogates, nothing beyond U+10FFFF. Which of these a character is, its
// second byte tells at the latest.
bool utf8_validator::begin(std::uint8_t first) noexcept {
    if (first < 0x80) return true;
    if (first < 0xc2 || first > 0xf4) return false;
    missing_ = 1;
    if (first >= 0xe0) ++missing_;
    if (first >= 0xf0) ++missing_;
    if (first == 0xe0) low_ = 0xa0;
    if (first == 0xed) high_ = 0x9f;
    if (first == 0xf0) low_ = 0x90;
    if (first == 0xf4) high_ = 0x8f;
    return true;
}

bool utf8_validator::take(const_buffer bytes) noexcept {
    std::size_t at = 0;
    while (at < bytes.size() && !broken_) {
        if (missing_ == 0) {
            at += ascii_words(bytes.subspan(at));
            if (at == bytes.size()) break;
        }
        const auto next = static_cast<std::uint8_t>(bytes[at++]);
        if (missing_ == 0) {
            broken_ = !begin(next);
        } else if (next < low_ || next > high_) {
            broken_ = true;
        } else {
            --missing_;
            low_ = 0x80;
            high_ = 0xbf;
        }
    }
    return !broken_;
}

}  // namespace gyre::websocket
