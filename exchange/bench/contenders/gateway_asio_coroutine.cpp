// SPDX-License-Identifier: BSL-1.0
//
// The same facility and gateway on Boost.Asio's coroutines.
#include <exchange/bench/gateway_in_front.hpp>
#include <exchange/bench/seam_facility.hpp>
#include <exchange/net/asio/traits.hpp>

#include <boost/version.hpp>

namespace exchange::bench {

std::unique_ptr<facility_under_test> make_facility(const facility_tuning& how) {
    using pipeline = seam_facility<gateway_in_front<asio_traits>, asio_loop, asio_loop_options>;
    lab::require(how.backend.empty() && how.spin_max == gyre::duration{},
                 "exchange: Asio's coroutines have no backends, and do not spin");
    const std::string version =
        std::to_string(BOOST_VERSION / 100'000) + "." + std::to_string(BOOST_VERSION / 100 % 1'000);
    return std::make_unique<pipeline>(
        facility_identity{"asio_coroutine", "Boost.Asio", version, "epoll"}, how,
        asio_loop_options{});
}

}  // namespace exchange::bench
