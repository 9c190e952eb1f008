// SPDX-License-Identifier: BSL-1.0
//
// The gateway on Boost.Asio's coroutines.
#include <exchange/bin/run_gateway.hpp>
#include <exchange/net/asio/traits.hpp>

namespace exchange {

int run_gateway_on_asio(const gateway_config& how) {
    asio_loop context;
    return gateway_program<asio_traits>{context, how}.run();
}

}  // namespace exchange
