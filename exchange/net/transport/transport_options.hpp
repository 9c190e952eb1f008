// SPDX-License-Identifier: BSL-1.0
//
// What transports of order entry are told, all of them at once: each takes what concerns it.
#pragma once

#include <exchange/codec/packet_format.hpp>
#include <exchange/codec/said_texts.hpp>
#include <exchange/codec/soup_framer.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace exchange {

/// By which name client and server of a WebSocket agree on it: "exchange.sbe.v1", "exchange.json.v1"; static
/// storage.
[[nodiscard]] constexpr const char* subprotocol_of(session_format format) noexcept {
    return format == session_format::json ? "exchange.json.v1" : "exchange.sbe.v1";
}

struct websocket_options {
    std::string path = "/order-entry/v1";  ///< What a client asks for.
    std::vector<std::string> origins;      ///< Pages of other hosts that browsers may connect from.
    session_format format = session_format::sbe;  ///< Of a client: what it offers.
    std::size_t head_bytes_max = 4096;            ///< Of the request for a WebSocket.
    std::size_t unsent_bytes_max =
        64 * 1024;  ///< Twice so much may wait in a connection to be written.
};

class channel_security;

struct transport_options {
    soup_framer_options framing{};
    websocket_options websocket{};
    std::shared_ptr<said_texts> said{};  ///< Where many clients are told alike; else null.
    std::shared_ptr<channel_security>
        security{};  ///< What secures connections; null: nothing does.
};

}  // namespace exchange
