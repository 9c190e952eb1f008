// SPDX-License-Identifier: BSL-1.0
#include <websocket/accept_key.hpp>

#include <gyre/base/buffer.hpp>
#include <gyre/http/authorization.hpp>

#include <bit>
#include <cstdint>
#include <optional>

namespace gyre::websocket {

namespace {

constexpr std::size_t block_bytes = 64;

using sha1_state = std::array<std::uint32_t, 5>;

std::uint32_t big_endian_word(const char* at) noexcept {
    std::uint32_t word = 0;
    for (std::size_t each = 0; each < sizeof word; ++each) {
        word = word << 8 | static_cast<std::uint8_t>(at[each]);
    }
    return word;
}

// What round `number` mixes in besides its word. RFC 3174, 5.
std::uint32_t mixed(std::size_t number, const sha1_state& s) noexcept {
    if (number < 20) return ((s[1] & s[2]) | (~s[1] & s[3])) + 0x5a827999U;
    if (number < 40) return (s[1] ^ s[2] ^ s[3]) + 0x6ed9eba1U;
    if (number < 60) return ((s[1] & s[2]) | (s[1] & s[3]) | (s[2] & s[3])) + 0x8f1bbcdcU;
    return (s[1] ^ s[2] ^ s[3]) + 0xca62c1d6U;
}

// RFC 3174, 6.1.
void take_block(sha1_state& state, const char* block) noexcept {
    std::array<std::uint32_t, 80> words{};
    for (std::size_t each = 0; each < 16; ++each) words[each] = big_endian_word(block + 4 * each);
    for (std::size_t each = 16; each < words.size(); ++each) {
        words[each] =
            std::rotl(words[each - 3] ^ words[each - 8] ^ words[each - 14] ^ words[each - 16], 1);
    }
    sha1_state turned = state;
    for (std::size_t each = 0; each < words.size(); ++each) {
        const std::uint32_t next =
            std::rotl(turned[0], 5) + mixed(each, turned) + turned[4] + words[each];
        turned = {next, turned[0], std::rotl(turned[1], 30), turned[2], turned[3]};
    }
    for (std::size_t each = 0; each < state.size(); ++each) state[each] += turned[each];
}

}  // namespace

std::array<std::byte, 20> sha1(std::string_view text) {
    // RFC 3174, 4: a one, zeros, and the length in bits.
    std::string padded{text};
    padded.push_back(static_cast<char>(0x80));
    while (padded.size() % block_bytes != block_bytes - 8) padded.push_back('\0');
    const std::uint64_t bits = std::uint64_t{text.size()} * 8;
    for (int shift = 56; shift >= 0; shift -= 8) padded.push_back(static_cast<char>(bits >> shift));

    sha1_state state{0x67452301U, 0xefcdab89U, 0x98badcfeU, 0x10325476U, 0xc3d2e1f0U};
    for (std::size_t at = 0; at < padded.size(); at += block_bytes) {
        take_block(state, padded.data() + at);
    }
    std::array<std::byte, 20> digest{};
    for (std::size_t each = 0; each < digest.size(); ++each) {
        digest[each] = static_cast<std::byte>(state[each / 4] >> (24 - 8 * (each % 4)));
    }
    return digest;
}

bool is_handshake_key(std::string_view text) noexcept {
    const std::optional<std::string> key = http::base64_decoded(text);
    return key && key->size() == 16;
}

// RFC 6455, 4.2.2, 5.4.
std::string accept_key(std::string_view key) {
    constexpr std::string_view suffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    const std::array<std::byte, 20> digest = sha1(std::string{key}.append(suffix));
    return http::base64_encoded(text_of(digest));
}

}  // namespace gyre::websocket
