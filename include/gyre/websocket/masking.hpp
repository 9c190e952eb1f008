// SPDX-License-Identifier: BSL-1.0
//
// The mask that a client lays over what it sends, and where its keys come from.
//
// Scripts in a browser choose payloads but not keys, so they cannot make a proxy between see a request of
// their making: that holds only while no script can tell the next key from those before. Masking touches
// every byte, so it goes by words.
#pragma once

#include <gyre/base/buffer.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace gyre::websocket {

/// As it stands in a frame. RFC 6455, 5.3.
using masking_key = std::array<std::byte, 4>;

/// Lays the mask over `bytes` in place, or takes it off again.
///
/// @param  offset  Where in the payload `bytes` begin; only what is left of it by four counts.
void mask(mutable_buffer bytes, const masking_key& key, std::size_t offset = 0) noexcept;

/// The same, of a copy. @pre  `into` is as large as `from`, and apart from it.
void mask_copy(const_buffer from, mutable_buffer into, const masking_key& key,
               std::size_t offset = 0) noexcept;

/// Keys that cannot be told in advance (RFC 6455, 10.3): the key stream of ChaCha20 (RFC 8439, 2.3).
class masking_keys {
public:
    /// What the keys follow from: 256 bits.
    using seed = std::array<std::uint32_t, 8>;

    /// Seeded by the system.
    [[nodiscard]] static masking_keys random();

    /// The same seed gives the same keys: for tests.
    explicit masking_keys(const seed& from) noexcept : seed_{from} {}

    [[nodiscard]] masking_key next() noexcept;

private:
    static constexpr std::size_t words_per_block = 16;

    seed seed_;
    std::uint64_t blocks_ = 0;
    std::array<std::uint32_t, words_per_block> words_{};
    std::size_t used_ = words_per_block;
};

}  // namespace gyre::websocket
