// SPDX-License-Identifier: BSL-1.0
//
// The facility on Boost.Asio, for comparison: on its coroutines, or on handlers without any.
#include <exchange/bin/run_facility.hpp>
#include <exchange/bin/websocket_choice.hpp>
#include <exchange/net/asio/beast_packets.hpp>
#include <exchange/net/asio/callback/facility.hpp>
#include <exchange/net/asio/traits.hpp>

namespace exchange {

int run_on_asio(const config& how) {
    asio_loop context;
    if (how.backend == facility_backend::asio_callback)
        return run_facility<asio_traits, callback_facility>(context, how);
    using facility = matching_facility<asio_traits, if_spoken<beast_packets>>;
    return run_facility<asio_traits, facility>(context, how);
}

}  // namespace exchange
