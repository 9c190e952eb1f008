// SPDX-License-Identifier: BSL-1.0
#include <gyre/websocket/frame.hpp>

#include <gyre/base/check.hpp>

namespace gyre::websocket {

// Big-endian.
void encoded_header::put(std::uint64_t number, std::size_t count) noexcept {
    while (count-- > 0) space_[size_++] = static_cast<std::byte>(number >> (8 * count));
}

// RFC 6455, 5.2.
encoded_header::encoded_header(const frame_header& of) noexcept {
    expects(of.payload_bytes >> 63 == 0, "a frame's length is less than 2^63");
    const std::uint64_t length = of.payload_bytes;
    put((of.final ? 0x80U : 0U) | (of.compressed ? 0x40U : 0U) | static_cast<unsigned>(of.code), 1);
    const unsigned masked = of.key ? 0x80U : 0U;
    if (length < 126) {
        put(masked | length, 1);
    } else if (length <= 0xffff) {
        put(masked | 126U, 1);
        put(length, 2);
    } else {
        put(masked | 127U, 1);
        put(length, 8);
    }
    if (!of.key) return;
    for (const std::byte each : *of.key) space_[size_++] = each;
}

}  // namespace gyre::websocket
