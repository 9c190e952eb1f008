// SPDX-License-Identifier: BSL-1.0
//
// Numbers as SoupBinTCP and MoldUDP64 write them: the most significant byte first.
//
// SBE messages, which travel inside, are little-endian: sbe.hpp.
#pragma once

#include <concepts>
#include <cstddef>
#include <span>

namespace exchange {

/// Compilers make one swapped store of it.
template <std::unsigned_integral Number>
constexpr void put_big_endian(std::span<std::byte, sizeof(Number)> out, Number value) noexcept {
    for (std::size_t each = 0; each < sizeof(Number); ++each)
        out[sizeof(Number) - 1 - each] = static_cast<std::byte>((value >> (8 * each)) & 0xFF);
}

template <std::unsigned_integral Number>
[[nodiscard]] constexpr Number get_big_endian(
    std::span<const std::byte, sizeof(Number)> bytes) noexcept {
    Number value = 0;
    for (const std::byte each : bytes)
        value = static_cast<Number>((std::size_t{value} << 8) | std::to_integer<Number>(each));
    return value;
}

}  // namespace exchange
