// SPDX-License-Identifier: BSL-1.0
//
// The facility, over io_uring or epoll: see run_facility.hpp.
#include <exchange/bin/gyre_context.hpp>
#include <exchange/bin/run_facility.hpp>
#include <exchange/bin/websocket_choice.hpp>
#include <exchange/net/gyre/traits.hpp>
#include <exchange/net/transport/websocket_packets.hpp>

namespace exchange {

int run_facility(const config& how) {
    using facility = matching_facility<gyre_traits, if_spoken<websocket_packets<gyre_traits>>>;
    return with_gyre_context("matching_facility", how.backend, [&how](gyre::io_context& context) {
        return run_facility<gyre_traits, facility>(context, how);
    });
}

}  // namespace exchange
