// SPDX-License-Identifier: BSL-1.0
//
// The facility on Boost.Asio's coroutines, for who wants to compare.
#include <exchange/bin/run_facility.hpp>
#include <exchange/net/asio_traits.hpp>

namespace exchange {

int run_on_asio(const config& how) {
    asio_loop context;
    return facility_program<asio_traits>{context, how}.run();
}

}  // namespace exchange
