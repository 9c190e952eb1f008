// SPDX-License-Identifier: BSL-1.0
//
// One place for each remainder of a hash: see said_texts.hpp.
#include <exchange/codec/said_texts.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace exchange {

said_texts::said_texts()
    : bytes_{std::make_unique_for_overwrite<std::byte[]>(packets_max * place_bytes)} {}

std::span<const std::byte> said_texts::find(std::span<const std::byte> packet) const noexcept {
    if (packet.empty() || packet.size() > packet_bytes_max) return {};
    const std::size_t at = place_of(packet);
    const place& it = places_[at];
    const std::byte* const bytes = bytes_.get() + at * place_bytes;
    if (it.packet_bytes != packet.size() || std::memcmp(bytes, packet.data(), packet.size()) != 0)
        return {};
    return {bytes + packet_bytes_max, it.text_bytes};
}

void said_texts::keep(std::span<const std::byte> packet, std::span<const std::byte> text) noexcept {
    if (packet.empty() || packet.size() > packet_bytes_max || text.size() > text_bytes_max) return;
    const std::size_t at = place_of(packet);
    std::byte* const bytes = bytes_.get() + at * place_bytes;
    std::ranges::copy(packet, bytes);
    std::ranges::copy(text, bytes + packet_bytes_max);
    places_[at] = {packet.size(), text.size()};
}

// Eight bytes at a time: packets of one market differ in few of them.
std::size_t said_texts::place_of(std::span<const std::byte> packet) noexcept {
    constexpr std::uint64_t odd = 0x9e37'79b9'7f4a'7c15;
    std::uint64_t hash = packet.size();
    while (!packet.empty()) {
        std::uint64_t word = 0;
        const std::size_t size = std::min(packet.size(), sizeof word);
        std::memcpy(&word, packet.data(), size);
        hash = (hash ^ word) * odd;
        hash ^= hash >> 32;
        packet = packet.subspan(size);
    }
    return hash % packets_max;
}

}  // namespace exchange
