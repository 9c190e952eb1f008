// SPDX-License-Identifier: BSL-1.0
//
// The laws of a relay of the feed on gyre's coroutines.
#include <exchange/net/application/feed_relay.hpp>

#include <exchange/tests/net/gyre_side.hpp>
#include <exchange/tests/net/relay_laws.hpp>

using namespace exchange;
using namespace exchange::testing;
using law_here = relay_law<gyre_side>;

TEST_CASE("gyre relay: messages leave with their numbers and the name of the life") {
    law_here::messages_leave_with_their_numbers_and_the_name_of_the_life();
}
TEST_CASE("gyre relay: datagrams in disorder leave in order, and once") {
    law_here::datagrams_in_disorder_leave_in_order_and_once();
}
TEST_CASE("gyre relay: a late listener asks the relay for what it missed") {
    law_here::a_late_listener_asks_the_relay_for_what_it_missed();
}
TEST_CASE("gyre relay: what is lost for good is a gap behind the relay, too") {
    law_here::what_is_lost_for_good_is_a_gap_behind_the_relay_too();
}
TEST_CASE("gyre relay: another life begins another feed under its name") {
    law_here::another_life_begins_another_feed_under_its_name();
}
TEST_CASE("gyre relay: a source that falls silent silences the relay") {
    law_here::a_source_that_falls_silent_silences_the_relay();
}
