// SPDX-License-Identifier: BSL-1.0
//
// What a build without Boost.Asio answers when asked for it; gateway_on_asio.cpp is the other one.
#include <exchange/bin/gyre_context.hpp>
#include <exchange/bin/run_gateway.hpp>

namespace exchange {

int run_gateway_on_asio(const gateway_config& how) {
    return lacks_asio("order_entry_gateway", how.backend);
}

}  // namespace exchange
