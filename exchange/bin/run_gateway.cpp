// SPDX-License-Identifier: BSL-1.0
//
// The gateway, over io_uring or epoll: see run_gateway.hpp.
#include <exchange/bin/gyre_context.hpp>
#include <exchange/bin/run_gateway.hpp>
#include <exchange/bin/websocket_choice.hpp>
#include <exchange/net/gyre/traits.hpp>
#include <exchange/net/transport/websocket_packets.hpp>

namespace exchange {

int run_gateway(const gateway_config& how) {
    using gateway = order_entry_gateway<gyre_traits, if_spoken<websocket_packets<gyre_traits>>>;
    return with_gyre_context("order_entry_gateway", how.backend, [&how](gyre::io_context& context) {
        return run_gateway<gyre_traits, gateway>(context, how);
    });
}

}  // namespace exchange
