// SPDX-License-Identifier: BSL-1.0
//
// The field Range: which bytes of a file are wanted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace gyre::web {

/// Some bytes in a row; never none.
struct byte_range {
    std::uint64_t first = 0;
    std::uint64_t size = 0;

    friend bool operator==(const byte_range&, const byte_range&) = default;
};

/// What a field Range asks for.
struct wanted_ranges {
    enum class verdict : std::uint8_t {
        whole,  ///< The field means nothing here, or more than it should: send everything.
        some,
        none  ///< Nothing that it asks for is there: 416.
    };

    verdict what = verdict::whole;
    std::vector<byte_range> ranges;  ///< In the order of the field. Not empty of `some` only.
};

/// Reads the field's value for a file of `size` bytes.
///
/// @param  ranges_max  A field with more of them is passed over, and so is one whose ranges overlap or have
///                     together more bytes than the file: RFC 9110, 14.2 lets servers defend themselves.
[[nodiscard]] wanted_ranges parse_ranges(std::string_view value, std::uint64_t size,
                                         std::size_t ranges_max);

}  // namespace gyre::web
