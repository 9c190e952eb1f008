// SPDX-License-Identifier: BSL-1.0
//
// Asio's side with clients and facilities that speak WebSocket by Boost.Beast.
//
// websocket_side.hpp has what it is made of: laws name a side, and the side its transport.
#pragma once

#include <exchange/net/asio/beast_packets.hpp>
#include <exchange/tests/net/asio_side.hpp>
#include <exchange/tests/net/websocket_side.hpp>

namespace exchange::testing {

struct over_beast : asio_traits {};

template <>
struct transport_of<over_beast> {
    using type = beast_packets;
    using wire = websocket_wire;

    [[nodiscard]] static order_entry_client_options adapt(order_entry_client_options from) {
        from.websocket.format = spoken_format;
        return from;
    }
};

struct beast_side : asio_side {
    using traits = over_beast;
};

}  // namespace exchange::testing
