// SPDX-License-Identifier: BSL-1.0
//
// Bytes as tests of WebSockets write them: in hexadecimal, as the standard shows them, and as frames.
#pragma once

#include <gyre/base/buffer.hpp>
#include <gyre/websocket/frame.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gyre::testing {

using bytes = std::vector<std::byte>;

/// Of "81 05 48 65": digits in pairs, blanks ignored.
[[nodiscard]] inline bytes hex(std::string_view digits) {
    bytes made;
    unsigned value = 0;
    bool half = false;
    for (const char each : digits) {
        if (each == ' ') continue;
        const unsigned digit = each <= '9' ? static_cast<unsigned>(each - '0')
                                           : static_cast<unsigned>(each - 'a' + 10);
        value = value << 4 | digit;
        half = !half;
        if (half) continue;
        made.push_back(static_cast<std::byte>(value));
        value = 0;
    }
    return made;
}

[[nodiscard]] inline bytes copy_of(const_buffer from) { return {from.begin(), from.end()}; }
[[nodiscard]] inline bytes copy_of(std::string_view text) { return copy_of(bytes_of(text)); }

inline bytes& operator+=(bytes& to, const bytes& more) {
    to.insert(to.end(), more.begin(), more.end());
    return to;
}

/// A frame; with a key it is masked.
[[nodiscard]] inline bytes frame(websocket::frame_header header, const_buffer payload) {
    header.payload_bytes = payload.size();
    bytes made = copy_of(websocket::encoded_header{header}.bytes());
    bytes body = copy_of(payload);
    if (header.key) websocket::mask(body, *header.key);
    made += body;
    return made;
}

inline constexpr websocket::masking_key test_key{std::byte{0x37}, std::byte{0xfa}, std::byte{0x21},
                                                 std::byte{0x3d}};

/// What a client would send.
[[nodiscard]] inline bytes client_frame(websocket::frame_opcode code, std::string_view payload,
                                        bool final = true) {
    websocket::frame_header header;
    header.code = code;
    header.final = final;
    header.key = test_key;
    return frame(header, bytes_of(payload));
}

/// What a server would send.
[[nodiscard]] inline bytes server_frame(websocket::frame_opcode code, std::string_view payload,
                                        bool final = true) {
    websocket::frame_header header;
    header.code = code;
    header.final = final;
    return frame(header, bytes_of(payload));
}

/// A close frame's payload.
[[nodiscard]] inline std::string close_payload(std::uint16_t code, std::string_view words = {}) {
    std::string made;
    made.push_back(static_cast<char>(code >> 8));
    made.push_back(static_cast<char>(code & 0xff));
    return made.append(words);
}

}  // namespace gyre::testing
