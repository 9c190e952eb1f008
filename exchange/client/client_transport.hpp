// SPDX-License-Identifier: BSL-1.0
//
// The transports that clients may choose.
#pragma once

#include <cstdint>

namespace exchange {

/// What carries a session.
enum class client_transport : std::uint8_t {
    soup,            ///< SoupBinTCP over TCP.
    websocket_sbe,   ///< Binary messages of a WebSocket, where this build has them.
    websocket_json,  ///< The same as JSON, for a path that lets nothing else through.
};

}  // namespace exchange
