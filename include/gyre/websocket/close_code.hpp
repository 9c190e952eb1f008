// SPDX-License-Identifier: BSL-1.0
//
// Why a WebSocket ends, as its peer is told: a number and a few words.
//
// Some numbers stand only for what a program tells itself, and a peer that sends one of them breaks the
// protocol; so does one that invents its own below 3000. frame_parser.hpp asks `may_travel`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace gyre::websocket {

/// The registered numbers; 3000 to 3999 are registered by frameworks, 4000 to 4999 are the program's own.
// RFC 6455, 7.4.1.
enum class close_code : std::uint16_t {
    normal = 1000,
    going_away = 1001,  ///< A server stops, a page is left.
    protocol_error = 1002,
    unsupported_data = 1003,  ///< A kind of message that the receiver does not take.
    no_status = 1005,         ///< Never sent: the peer's close frame had no number.
    abnormal = 1006,          ///< Never sent: the stream ended without a close frame.
    invalid_payload = 1007,   ///< Text that is no UTF-8, or data that does not inflate.
    policy_violation = 1008,
    message_too_big = 1009,
    mandatory_extension = 1010,  ///< Sent by clients: the server agreed to none of what was needed.
    internal_error = 1011,
    service_restart = 1012,
    try_again_later = 1013,
    bad_gateway = 1014
};

/// Whether a close frame may carry `code`.
// RFC 6455, 7.4.1 and 7.4.2.
[[nodiscard]] constexpr bool may_travel(close_code code) noexcept {
    const auto number = static_cast<std::uint16_t>(code);
    if (number >= 1000 && number <= 1003) return true;
    if (number >= 1007 && number <= 1014) return true;
    return number >= 3000 && number <= 4999;
}

/// Most bytes of text beside the number: a control frame holds 125 bytes.
inline constexpr std::size_t close_text_bytes_max = 123;

/// What a close frame tells.
struct close_reason {
    close_reason() noexcept = default;
    /// @param  number  One that `may_travel`, to be sent.
    /// @param  words   UTF-8, at most `close_text_bytes_max`, to be sent; for people only.
    close_reason(close_code number, std::string words = {}) noexcept
        : code{number}, text{std::move(words)} {}

    close_code code = close_code::no_status;
    std::string text;
};

}  // namespace gyre::websocket
