// SPDX-License-Identifier: BSL-1.0
//
// The same facility on Boost.Asio's coroutines.
#include <exchange/bench/seam_facility.hpp>
#include <exchange/net/application/matching_facility.hpp>
#include <exchange/net/asio/traits.hpp>

#include <boost/version.hpp>

namespace exchange::bench {

std::unique_ptr<facility_under_test> make_facility(const facility_tuning& how) {
    lab::require(how.backend.empty() && !how.turns_context(),
                 "exchange: Asio's coroutines have no backends, and do not spin");
    lab::require(!how.through_gateway, "exchange: gateways run on gyre alone");
    const std::string version =
        std::to_string(BOOST_VERSION / 100'000) + "." + std::to_string(BOOST_VERSION / 100 % 1'000);
    using facility = seam_facility<matching_facility<asio_traits>, asio_loop, asio_loop_options>;
    return std::make_unique<facility>(
        facility_identity{"asio_coroutine", "Boost.Asio", version, "epoll"}, how,
        asio_loop_options{});
}

}  // namespace exchange::bench
