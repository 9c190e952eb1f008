// SPDX-License-Identifier: BSL-1.0
//
// The laws of a matching facility on the coroutines of Asio.
#include <exchange/net/application/matching_facility.hpp>

#include <exchange/tests/net/asio_world.hpp>
#include <exchange/tests/net/facility_laws.hpp>

using namespace exchange;
using namespace exchange::testing;
using law_here = facility_law<asio_world, matching_facility<asio_traits>>;

TEST_CASE("asio facility: trades are told to both sides and to the public") {
    law_here::trades_are_told_to_both_and_to_the_public();
}
TEST_CASE("asio facility: a lost connection loses no message") {
    law_here::a_lost_connection_loses_no_message();
}
TEST_CASE("asio facility: a late listener asks for what it missed") {
    law_here::a_late_listener_asks_for_what_it_missed();
}
TEST_CASE("asio facility: the newest login of a participant wins") {
    law_here::the_newest_login_of_a_participant_wins();
}
TEST_CASE("asio facility: strangers do not keep participants out") {
    law_here::strangers_do_not_keep_participants_out();
}
TEST_CASE("asio facility: bytes that are no packets end the connection with the reason") {
    law_here::bytes_that_are_no_packets_end_the_connection_with_the_reason();
}
TEST_CASE("asio facility: who does not log in is sent away") {
    law_here::who_does_not_log_in_is_sent_away();
}
TEST_CASE("asio facility: the day ends in order") { law_here::the_day_ends_in_order(); }
