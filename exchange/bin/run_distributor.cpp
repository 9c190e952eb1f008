// SPDX-License-Identifier: BSL-1.0
//
// The distributor, over io_uring or epoll: see run_distributor.hpp.
#include <exchange/bin/gyre_context.hpp>
#include <exchange/bin/run_distributor.hpp>
#include <exchange/net/gyre/traits.hpp>

namespace exchange {

int run_distributor(const distributor_config& how) {
    return with_gyre_context("market_data_distributor", how.backend,
                             [&how](gyre::io_context& context) {
                                 return run_served<gyre_traits, served_distributor>(context, how);
                             });
}

}  // namespace exchange
