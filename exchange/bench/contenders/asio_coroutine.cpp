// SPDX-License-Identifier: BSL-1.0
//
// The same facility, and the same gateway, on Boost.Asio's coroutines.
#include <exchange/bench/gateway_in_front.hpp>
#include <exchange/bench/seam_facility.hpp>
#include <exchange/net/asio/traits.hpp>

#include <boost/version.hpp>

namespace exchange::bench {

std::unique_ptr<facility_under_test> make_facility(const facility_tuning& how) {
    lab::require(how.backend.empty() && !how.turns_context(),
                 "exchange: Asio's coroutines have no backends, and do not spin");
    const std::string version =
        std::to_string(BOOST_VERSION / 100'000) + "." + std::to_string(BOOST_VERSION / 100 % 1'000);
    return seam_facility_of<asio_traits>({"asio_coroutine", "Boost.Asio", version, "epoll"}, how,
                                         asio_loop_options{});
}

}  // namespace exchange::bench
