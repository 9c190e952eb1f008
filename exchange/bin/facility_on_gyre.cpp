// SPDX-License-Identifier: BSL-1.0
//
// The facility on gyre's coroutines, over io_uring or epoll.
#include <exchange/bin/run_facility.hpp>
#include <exchange/bin/websocket_choice.hpp>
#include <exchange/net/gyre/traits.hpp>
#include <exchange/net/transport/websocket_packets.hpp>

namespace exchange {

int run_on_gyre(const config& how) {
    gyre::io_context_options options;
    options.backend = how.backend == facility_backend::gyre_uring ? gyre::backend_choice::uring
                                                                  : gyre::backend_choice::epoll;
    gyre::io_context context{options};
    if (const gyre::error refused = context.status()) {
        std::fprintf(stderr, "matching_facility: %s does not work here: %s\n",
                     std::string{describe(how.backend)}.c_str(), refused.message().c_str());
        return 1;
    }
    using facility = matching_facility<gyre_traits, if_spoken<websocket_packets<gyre_traits>>>;
    return run_facility<gyre_traits, facility>(context, how);
}

}  // namespace exchange
