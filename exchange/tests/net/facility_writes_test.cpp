// SPDX-License-Identifier: BSL-1.0
//
// What each message costs in writes on gyre, whatever the backend.
#include <exchange/net/application/matching_facility.hpp>

#include <exchange/tests/net/gyre_side.hpp>
#include <exchange/tests/net/write_laws.hpp>

using namespace exchange;
using namespace exchange::testing;

TEST_CASE("gyre facility: each message costs as many writes and datagrams as anywhere") {
    write_law<gyre_side,
              matching_facility<gyre_traits>>::each_message_costs_as_many_writes_as_anywhere();
}
TEST_CASE("gyre facility: a client that is told without end is heard") {
    write_law<gyre_side,
              matching_facility<gyre_traits>>::a_client_that_is_told_without_end_is_heard();
}
