// SPDX-License-Identifier: BSL-1.0
//
// The JSON of packets that were said lately, so that what many are told is put into words once.
//
// Subscribers that read as fast as is told get the same packets, one after the other. To compare a packet
// with one that was said costs a small part of what its JSON does. Packets that carry a number of their
// stream are none of these: their text has it.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>

namespace exchange {

/// Threads:  One at a time.
/// Cost:     Memory is taken at construction, and not used before there are texts. A look at each byte of a
///           packet to find it.
class said_texts {
public:
    static constexpr std::size_t packets_max =
        64;  ///< That are kept; newer ones take their places.
    static constexpr std::size_t packet_bytes_max = 2048;     ///< Longer ones are not kept,
    static constexpr std::size_t text_bytes_max = 12 * 1024;  ///< nor are those of longer texts.

    said_texts();

    /// The text of a packet, borrowed until the next `keep`; empty if it is not kept.
    [[nodiscard]] std::span<const std::byte> find(std::span<const std::byte> packet) const noexcept;

    /// @param  text  Not empty.
    void keep(std::span<const std::byte> packet, std::span<const std::byte> text) noexcept;

private:
    struct place {
        std::size_t packet_bytes = 0;
        std::size_t text_bytes = 0;
    };
    static constexpr std::size_t place_bytes = packet_bytes_max + text_bytes_max;

    [[nodiscard]] static std::size_t place_of(std::span<const std::byte> packet) noexcept;

    std::array<place, packets_max> places_{};
    std::unique_ptr<std::byte[]> bytes_;  // Of each place a packet and its text.
};

}  // namespace exchange
