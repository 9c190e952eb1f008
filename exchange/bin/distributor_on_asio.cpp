// SPDX-License-Identifier: BSL-1.0
//
// The distributor on Boost.Asio's coroutines.
#include <exchange/bin/run_distributor.hpp>
#include <exchange/bin/websocket_choice.hpp>
#include <exchange/net/asio/beast_packets.hpp>
#include <exchange/net/asio/traits.hpp>

namespace exchange {

int run_distributor_on_asio(const distributor_config& how) {
    asio_loop context;
    using distributor = market_data_distributor<asio_traits, if_spoken<beast_packets>>;
    return run_distributor<asio_traits, distributor>(context, how);
}

}  // namespace exchange
