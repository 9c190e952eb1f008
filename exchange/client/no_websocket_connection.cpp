// SPDX-License-Identifier: BSL-1.0
//
// What stands for websocket_connection.cpp in a build without WebSockets.
#include <exchange/client/client_connection.hpp>

namespace exchange {

std::unique_ptr<client_connection> websocket_connection(gyre::io_context&,
                                                        const order_entry_client_options&,
                                                        order_entry_handler&) {
    return nullptr;
}

}  // namespace exchange
