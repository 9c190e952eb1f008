// SPDX-License-Identifier: BSL-1.0
//
// A client over WebSocket, in builds that have them: see client_connection.hpp.
#include <exchange/client/client_connection.hpp>

#include <exchange/net/transport/websocket_packets.hpp>

namespace exchange {

std::unique_ptr<client_connection> websocket_connection(gyre::io_context& on,
                                                        const order_entry_client_options& options,
                                                        order_entry_handler& handler) {
    return std::make_unique<connection_over<websocket_packets<gyre_traits>>>(on, options, handler);
}

}  // namespace exchange
