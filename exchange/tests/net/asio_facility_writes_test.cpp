// SPDX-License-Identifier: BSL-1.0
//
// What each message costs in writes on Asio's coroutines.
#include <exchange/net/application/matching_facility.hpp>

#include <exchange/tests/net/asio_side.hpp>
#include <exchange/tests/net/write_laws.hpp>

using namespace exchange;
using namespace exchange::testing;

TEST_CASE("asio facility: each message costs as many writes and datagrams as anywhere") {
    write_law<asio_side,
              matching_facility<asio_traits>>::each_message_costs_as_many_writes_as_anywhere();
}
TEST_CASE("asio facility: a client that is told without end is heard") {
    write_law<asio_side,
              matching_facility<asio_traits>>::a_client_that_is_told_without_end_is_heard();
}
