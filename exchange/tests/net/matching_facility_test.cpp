// SPDX-License-Identifier: BSL-1.0
//
// The laws of a matching facility on gyre's coroutines, over every backend.
#include <exchange/net/application/matching_facility.hpp>

#include <exchange/tests/net/facility_laws.hpp>
#include <exchange/tests/net/gyre_world.hpp>

using namespace exchange;
using namespace exchange::testing;
using law_here = facility_law<gyre_world, matching_facility<gyre_traits>>;

TEST_CASE("gyre facility: trades are told to both sides and to the public") {
    law_here::trades_are_told_to_both_and_to_the_public();
}
TEST_CASE("gyre facility: a lost connection loses no message") {
    law_here::a_lost_connection_loses_no_message();
}
TEST_CASE("gyre facility: a late listener asks for what it missed") {
    law_here::a_late_listener_asks_for_what_it_missed();
}
TEST_CASE("gyre facility: the newest login of a participant wins") {
    law_here::the_newest_login_of_a_participant_wins();
}
TEST_CASE("gyre facility: strangers do not keep participants out") {
    law_here::strangers_do_not_keep_participants_out();
}
TEST_CASE("gyre facility: bytes that are no packets end the connection with the reason") {
    law_here::bytes_that_are_no_packets_end_the_connection_with_the_reason();
}
TEST_CASE("gyre facility: who does not log in is sent away") {
    law_here::who_does_not_log_in_is_sent_away();
}
TEST_CASE("gyre facility: the day ends in order") { law_here::the_day_ends_in_order(); }
