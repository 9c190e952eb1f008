// SPDX-License-Identifier: BSL-1.0
//
// The laws about memory on gyre's own side of the seam.
#include <exchange/net/gyre/traits.hpp>

#include <exchange/tests/net/allocation_laws.hpp>
#include <exchange/tests/net/gyre_side.hpp>

namespace exchange::testing {

TEST_CASE_TEMPLATE_INVOKE(echoes_without_allocation, gyre_side);
TEST_CASE_TEMPLATE_INVOKE(events_without_allocation, gyre_side);
TEST_CASE_TEMPLATE_INVOKE(timers_without_allocation, gyre_side);
TEST_CASE_TEMPLATE_INVOKE(datagrams_without_allocation, gyre_side);

}  // namespace exchange::testing
