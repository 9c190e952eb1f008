// SPDX-License-Identifier: BSL-1.0
//
// What a build without Boost.Asio answers when asked for it; distributor_on_asio.cpp is the other one.
#include <exchange/bin/gyre_context.hpp>
#include <exchange/bin/run_distributor.hpp>

namespace exchange {

int run_distributor_on_asio(const distributor_config& how) {
    return lacks_asio("market_data_distributor", how.backend);
}

}  // namespace exchange
