// SPDX-License-Identifier: BSL-1.0
//
// Whether the programs of this build speak WebSocket: where gyre::websocket is.
#pragma once

#include <type_traits>

namespace exchange {

/// The argument `Websockets` of a facility or a gateway: `Packets`, if they can be had in this build.
template <class Packets>
using if_spoken = std::conditional_t<EXCHANGE_WITH_WEBSOCKET != 0, Packets, void>;

}  // namespace exchange
