// SPDX-License-Identifier: BSL-1.0
//
// The gateway on gyre's coroutines, over io_uring or epoll.
#include <exchange/bin/run_gateway.hpp>
#include <exchange/bin/websocket_choice.hpp>
#include <exchange/net/gyre/traits.hpp>
#include <exchange/net/transport/websocket_packets.hpp>

namespace exchange {

int run_gateway_on_gyre(const gateway_config& how) {
    gyre::io_context_options options;
    options.backend = how.backend == facility_backend::gyre_uring ? gyre::backend_choice::uring
                                                                  : gyre::backend_choice::epoll;
    gyre::io_context context{options};
    if (const gyre::error refused = context.status()) {
        std::fprintf(stderr, "order_entry_gateway: %s does not work here: %s\n",
                     std::string{describe(how.backend)}.c_str(), refused.message().c_str());
        return 1;
    }
    using gateway = order_entry_gateway<gyre_traits, if_spoken<websocket_packets<gyre_traits>>>;
    return run_gateway<gyre_traits, gateway>(context, how);
}

}  // namespace exchange
