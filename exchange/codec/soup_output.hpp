// SPDX-License-Identifier: BSL-1.0
//
// What a SoupBinTCP connection wants written: pieces for one gathered write.
//
// Sequenced messages are written from where they stand in their stream, other packets from an outbox,
// and a stream that wraps around its end has two pieces.
#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace exchange {

/// Up to four pieces of memory to be written one after the other.
struct soup_output {
    std::array<std::span<const std::byte>, 4> parts;
    std::size_t count = 0;

    void add(std::span<const std::byte> part) noexcept {
        if (!part.empty()) parts[count++] = part;
    }
    [[nodiscard]] std::span<const std::span<const std::byte>> buffers() const noexcept {
        return std::span{parts}.first(count);
    }
    [[nodiscard]] std::size_t size() const noexcept {
        std::size_t total = 0;
        for (const auto part : buffers()) total += part.size();
        return total;
    }
};

}  // namespace exchange
