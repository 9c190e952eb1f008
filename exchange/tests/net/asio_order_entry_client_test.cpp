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
TEST_CASE("asio order entry client: an attempt to connect that is not answered ends in time") {
    client_law<asio_side>::an_attempt_that_is_not_answered_ends_in_time_and_is_made_again();
}
TEST_CASE("asio order entry client: a login may take longer than a connection") {
    client_law<asio_side>::a_login_may_take_longer_than_a_connection();
}
TEST_CASE("asio client: one that has logged out does not wait for an exchange that has stopped") {
    client_law<asio_side>::who_has_logged_out_does_not_wait_for_an_exchange_that_has_stopped();
}
