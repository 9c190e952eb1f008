// SPDX-License-Identifier: BSL-1.0
//
// The distributor, over io_uring or epoll: see run_distributor.hpp.
#include <exchange/bin/gyre_context.hpp>
#include <exchange/bin/run_distributor.hpp>
#include <exchange/bin/websocket_choice.hpp>
#include <exchange/net/gyre/traits.hpp>
#include <exchange/net/transport/websocket_packets.hpp>

namespace exchange {

int run_distributor(const distributor_config& how) {
    using distributor =
        market_data_distributor<gyre_traits, if_spoken<websocket_packets<gyre_traits>>>;
    return with_gyre_context("market_data_distributor", how.backend,
                             [&how](gyre::io_context& context) {
                                 return run_distributor<gyre_traits, distributor>(context, how);
                             });
}

}  // namespace exchange
