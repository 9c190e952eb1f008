// SPDX-License-Identifier: BSL-1.0
//
// What a build without Boost.Asio answers when asked for it; gateway_on_asio.cpp is the other one.
#include <exchange/bin/run_gateway.hpp>

namespace exchange {

int run_gateway_on_asio(const gateway_config& how) {
    std::fprintf(stderr, "order_entry_gateway: this build has no Boost.Asio, which %s needs\n",
                 std::string{describe(how.backend)}.c_str());
    return 1;
}

}  // namespace exchange
