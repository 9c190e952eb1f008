// SPDX-License-Identifier: BSL-1.0
//
// The gateway on Boost.Asio's coroutines.
#include <exchange/bin/run_gateway.hpp>
#include <exchange/bin/websocket_choice.hpp>
#include <exchange/net/asio/beast_packets.hpp>
#include <exchange/net/asio/traits.hpp>

namespace exchange {

int run_gateway_on_asio(const gateway_config& how) {
    asio_loop context;
    using gateway = order_entry_gateway<asio_traits, if_spoken<beast_packets>>;
    return run_gateway<asio_traits, gateway>(context, how);
}

}  // namespace exchange
