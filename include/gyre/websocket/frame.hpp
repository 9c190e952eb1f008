// SPDX-License-Identifier: BSL-1.0
//
// The frame: what both directions of a WebSocket consist of.
//
// Here are its header as a value and how that is written; frame_parser.hpp reads it. Own code and not a
// library's: docs/decisions/0038-websocket-framing.md.
#pragma once

#include <gyre/base/buffer.hpp>
#include <gyre/websocket/masking.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace gyre::websocket {

/// Which end of a connection a program is: only what a client sends is masked.
enum class role : std::uint8_t { client, server };

/// What a message consists of.
enum class message_kind : std::uint8_t { text = 1, binary = 2 };

/// What a frame carries, as its four bits say.
// RFC 6455, 5.2 and 11.8.
enum class frame_opcode : std::uint8_t {
    continuation = 0,
    text = 1,
    binary = 2,
    close = 8,
    ping = 9,
    pong = 10
};

[[nodiscard]] constexpr bool is_control(frame_opcode code) noexcept {
    return (static_cast<std::uint8_t>(code) & 8) != 0;
}
[[nodiscard]] constexpr frame_opcode opcode_of(message_kind kind) noexcept {
    return static_cast<frame_opcode>(kind);
}

/// Most bytes of a control frame's payload. RFC 6455, 5.5.
inline constexpr std::size_t control_bytes_max = 125;

/// Most bytes in front of a payload.
inline constexpr std::size_t frame_header_bytes_max = 14;

/// What stands in front of a payload.
struct frame_header {
    frame_opcode code = frame_opcode::binary;
    bool final = true;        ///< FIN: the message ends with this frame.
    bool compressed = false;  ///< RSV1: the message is deflated. RFC 7692, 6.
    std::uint64_t payload_bytes = 0;
    std::optional<masking_key> key;  ///< Of a client's frame.
};

/// A header as it stands in front of its payload.
class encoded_header {
public:
    /// @param  of  Its length is less than 2^63.
    explicit encoded_header(const frame_header& of) noexcept;

    [[nodiscard]] const_buffer bytes() const noexcept GYRE_LIFETIMEBOUND {
        return const_buffer{space_}.first(size_);
    }

private:
    void put(std::uint64_t number, std::size_t count) noexcept;

    std::array<std::byte, frame_header_bytes_max> space_{};
    std::size_t size_ = 0;
};

}  // namespace gyre::websocket
