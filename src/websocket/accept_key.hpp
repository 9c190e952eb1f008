// SPDX-License-Identifier: BSL-1.0
//
// How a server proves that it has read a WebSocket handshake: SHA-1, for this and nothing else.
//
// Nothing is secret here, and nothing rests on SHA-1 being hard to break: so a layer that needs no
// encryption does not need a library for it.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace gyre::websocket {

/// RFC 3174.
[[nodiscard]] std::array<std::byte, 20> sha1(std::string_view text);

/// Whether `text` is 16 bytes in Base64, as keys are. RFC 6455, 4.1.
[[nodiscard]] bool is_handshake_key(std::string_view text) noexcept;

/// The value of `Sec-WebSocket-Accept` for this `Sec-WebSocket-Key`.
[[nodiscard]] std::string accept_key(std::string_view key);

}  // namespace gyre::websocket
