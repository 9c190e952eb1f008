// SPDX-License-Identifier: BSL-1.0
//
// The laws about memory on Boost.Asio's side of the seam.
#include <exchange/net/asio/traits.hpp>

#include <exchange/tests/net/allocation_laws.hpp>
#include <exchange/tests/net/asio_side.hpp>

namespace exchange::testing {

TEST_CASE_TEMPLATE_INVOKE(echoes_without_allocation, asio_side);
TEST_CASE_TEMPLATE_INVOKE(events_without_allocation, asio_side);
TEST_CASE_TEMPLATE_INVOKE(timers_without_allocation, asio_side);
TEST_CASE_TEMPLATE_INVOKE(datagrams_without_allocation, asio_side);

}  // namespace exchange::testing
