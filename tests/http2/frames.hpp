// SPDX-License-Identifier: BSL-1.0
//
// Frames of HTTP/2 written by hand, for what no client would send, and read from what a server has written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gyre::testing {

inline constexpr std::string_view preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

enum class frame : std::uint8_t {
    data,
    headers,
    priority,
    rst_stream,
    settings,
    push_promise,
    ping,
    goaway,
    window_update,
    continuation,
    unknown = 0x42
};

inline constexpr std::uint8_t end_stream = 0x1;
inline constexpr std::uint8_t ack = 0x1;
inline constexpr std::uint8_t end_headers = 0x4;
inline constexpr std::uint8_t padded = 0x8;

[[nodiscard]] inline std::string number(std::uint32_t value, int bytes = 4) {
    std::string made;
    for (int at = bytes - 1; at >= 0; --at) {
        made.push_back(static_cast<char>((value >> (8 * at)) & 0xff));
    }
    return made;
}

// RFC 9113, 4.1.
[[nodiscard]] inline std::string frame_of(frame type, std::uint8_t flags, std::uint32_t stream,
                                          std::string_view payload = {}) {
    std::string made = number(static_cast<std::uint32_t>(payload.size()), 3);
    made.push_back(static_cast<char>(type));
    made.push_back(static_cast<char>(flags));
    return made.append(number(stream)).append(payload);
}

// RFC 7541, 6.2.2: a literal that is not indexed. Texts of less than 127 bytes.
[[nodiscard]] inline std::string literal(std::string_view name, std::string_view value) {
    std::string made(1, '\0');
    made.push_back(static_cast<char>(name.size()));
    made.append(name);
    made.push_back(static_cast<char>(value.size()));
    return made.append(value);
}

using texts = std::initializer_list<std::pair<std::string_view, std::string_view>>;

[[nodiscard]] inline std::string block_of(std::string_view method, std::string_view path,
                                          texts more = {}) {
    std::string made = literal(":method", method);
    made.append(literal(":scheme", "http")).append(literal(":path", path));
    made.append(literal(":authority", "h"));
    for (const auto& [name, value] : more) made.append(literal(name, value));
    return made;
}

[[nodiscard]] inline std::string get(std::uint32_t stream, std::string_view path = "/") {
    return frame_of(frame::headers, end_headers | end_stream, stream, block_of("GET", path));
}

/// What a client says first.
[[nodiscard]] inline std::string greeting() {
    return std::string{preface} + frame_of(frame::settings, 0, 0);
}

struct seen_frame {
    frame type;
    std::uint8_t flags;
    std::uint32_t stream;
    std::string payload;
};

/// Takes the whole frames off the front of `bytes`.
[[nodiscard]] inline std::vector<seen_frame> frames_in(std::string_view bytes) {
    const auto at = [&bytes](std::size_t index) {
        return static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[index]));
    };
    std::vector<seen_frame> found;
    while (bytes.size() >= 9) {
        const std::size_t size = (at(0) << 16) | (at(1) << 8) | at(2);
        if (bytes.size() < 9 + size) break;
        const std::uint32_t stream = (at(5) << 24) | (at(6) << 16) | (at(7) << 8) | at(8);
        found.push_back({static_cast<frame>(at(3)), static_cast<std::uint8_t>(at(4)), stream,
                         std::string{bytes.substr(9, size)}});
        bytes.remove_prefix(9 + size);
    }
    return found;
}

[[nodiscard]] inline std::uint32_t number_at(std::string_view bytes, std::size_t index) {
    std::uint32_t value = 0;
    for (std::size_t at = index; at < index + 4 && at < bytes.size(); ++at) {
        value = value << 8 | static_cast<unsigned char>(bytes[at]);
    }
    return value;
}

/// The code of the last GOAWAY in `bytes`.
[[nodiscard]] inline std::optional<std::uint32_t> goaway_code(std::string_view bytes) {
    std::optional<std::uint32_t> code;
    for (const seen_frame& each : frames_in(bytes)) {
        if (each.type == frame::goaway) code = number_at(each.payload, 4);
    }
    return code;
}

/// The code of the RST_STREAM of `stream`.
[[nodiscard]] inline std::optional<std::uint32_t> reset_code(std::string_view bytes,
                                                             std::uint32_t stream) {
    std::optional<std::uint32_t> code;
    for (const seen_frame& each : frames_in(bytes)) {
        if (each.type == frame::rst_stream && each.stream == stream) {
            code = number_at(each.payload, 0);
        }
    }
    return code;
}

}  // namespace gyre::testing
