// SPDX-License-Identifier: BSL-1.0
//
// What each message costs in writes on Asio's completion handlers, in both ways of writing.
#include <exchange/net/asio/callback/facility.hpp>

#include <exchange/tests/net/asio_side.hpp>
#include <exchange/tests/net/eager_facility.hpp>
#include <exchange/tests/net/write_laws.hpp>

using namespace exchange;
using namespace exchange::testing;

TEST_CASE("callback facility: each message costs as many writes and datagrams as anywhere") {
    write_law<asio_side, callback_facility>::each_message_costs_as_many_writes_as_anywhere();
    write_law<asio_side, eager_facility>::each_message_costs_as_many_writes_as_anywhere();
}
TEST_CASE("callback facility: a client that is told without end is heard") {
    write_law<asio_side, callback_facility>::a_client_that_is_told_without_end_is_heard();
    write_law<asio_side, eager_facility>::a_client_that_is_told_without_end_is_heard();
}
