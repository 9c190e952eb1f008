// SPDX-License-Identifier: BSL-1.0
//
// The laws of a client on the coroutines of Asio.
#include <exchange/tests/net/asio_side.hpp>
#include <exchange/tests/net/client_laws.hpp>

using namespace exchange;
using namespace exchange::testing;

TEST_CASE("asio order entry client: stopping ends an attempt to connect that is not answered") {
    client_law<asio_side>::stopping_ends_an_attempt_to_connect();
}
TEST_CASE("asio client: one that has logged out does not wait for an exchange that has stopped") {
    client_law<asio_side>::who_has_logged_out_does_not_wait_for_an_exchange_that_has_stopped();
}
