// SPDX-License-Identifier: BSL-1.0
#include <gyre/websocket/masking.hpp>

#include <gyre/base/check.hpp>

#include <bit>
#include <cstring>
#include <random>

namespace gyre::websocket {

namespace {

// The key eight bytes long, from `offset` on.
std::uint64_t word_of(const masking_key& key, std::size_t offset) noexcept {
    std::array<std::byte, sizeof(std::uint64_t)> turned{};
    for (std::size_t each = 0; each < turned.size(); ++each) {
        turned[each] = key[(offset + each) % key.size()];
    }
    return std::bit_cast<std::uint64_t>(turned);
}

using block = std::array<std::uint32_t, 16>;

void quarter_round(block& of, std::size_t a, std::size_t b, std::size_t c, std::size_t d) noexcept {
    of[a] += of[b];
    of[d] = std::rotl(of[d] ^ of[a], 16);
    of[c] += of[d];
    of[b] = std::rotl(of[b] ^ of[c], 12);
    of[a] += of[b];
    of[d] = std::rotl(of[d] ^ of[a], 8);
    of[c] += of[d];
    of[b] = std::rotl(of[b] ^ of[c], 7);
}

// RFC 8439, 2.3, with a counter of 64 bits.
block key_stream(const masking_keys::seed& from, std::uint64_t number) noexcept {
    constexpr std::array<std::uint32_t, 4> constants{0x61707865, 0x3320646e, 0x79622d32,
                                                     0x6b206574};
    block start{};
    for (std::size_t each = 0; each < constants.size(); ++each) start[each] = constants[each];
    for (std::size_t each = 0; each < from.size(); ++each) start[4 + each] = from[each];
    start[12] = static_cast<std::uint32_t>(number);
    start[13] = static_cast<std::uint32_t>(number >> 32);

    block mixed = start;
    for (int round = 0; round < 10; ++round) {
        for (std::size_t each = 0; each < 4; ++each) {
            quarter_round(mixed, each, each + 4, each + 8, each + 12);
        }
        for (std::size_t each = 0; each < 4; ++each) {
            quarter_round(mixed, each, 4 + (each + 1) % 4, 8 + (each + 2) % 4, 12 + (each + 3) % 4);
        }
    }
    for (std::size_t each = 0; each < mixed.size(); ++each) mixed[each] += start[each];
    return mixed;
}

}  // namespace

void mask(mutable_buffer bytes, const masking_key& key, std::size_t offset) noexcept {
    mask_copy(bytes, bytes, key, offset);
}

void mask_copy(const_buffer from, mutable_buffer into, const masking_key& key,
               std::size_t offset) noexcept {
    expects(into.size() == from.size(), "a masked copy is as large as its original");
    const std::uint64_t turned = word_of(key, offset);
    std::size_t at = 0;
    std::uint64_t word = 0;
    for (; from.size() - at >= sizeof word; at += sizeof word) {
        std::memcpy(&word, from.data() + at, sizeof word);
        word ^= turned;
        std::memcpy(into.data() + at, &word, sizeof word);
    }
    // A whole number of words has been done, so the key stands where it stood.
    for (; at < from.size(); ++at) into[at] = from[at] ^ key[(offset + at) % key.size()];
}

masking_keys masking_keys::random() {
    std::random_device source;
    seed made{};
    for (std::uint32_t& word : made) word = source();
    return masking_keys{made};
}

masking_key masking_keys::next() noexcept {
    if (used_ == words_.size()) {
        words_ = key_stream(seed_, blocks_++);
        used_ = 0;
    }
    return std::bit_cast<masking_key>(words_[used_++]);
}

}  // namespace gyre::websocket
