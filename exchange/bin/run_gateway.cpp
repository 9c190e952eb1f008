// SPDX-License-Identifier: BSL-1.0
//
// The gateway, over io_uring or epoll: see run_gateway.hpp.
#include <exchange/bin/gyre_context.hpp>
#include <exchange/bin/run_gateway.hpp>
#include <exchange/net/gyre/traits.hpp>

namespace exchange {

int run_gateway(const gateway_config& how) {
    return with_gyre_context("order_entry_gateway", how.backend, [&how](gyre::io_context& context) {
        return run_served<gyre_traits, served_gateway>(context, how);
    });
}

}  // namespace exchange
