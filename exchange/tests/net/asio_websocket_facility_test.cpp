// SPDX-License-Identifier: BSL-1.0
//
// The laws of a matching facility on the coroutines of Asio, with clients that speak WebSocket, binary and as
// JSON. Both ends of that are Boost.Beast, which closes by itself where a message is too long: so nothing is
// asked here of what a session has to say to that.
#include <exchange/tests/net/bad_input_laws.hpp>
#include <exchange/tests/net/beast_side.hpp>
#include <exchange/tests/net/end_of_day_laws.hpp>
#include <exchange/tests/net/facility_laws.hpp>
#include <exchange/tests/net/long_command_laws.hpp>
#include <exchange/tests/net/recovery_laws.hpp>
#include <exchange/tests/net/sequence_gap_laws.hpp>
#include <exchange/tests/net/slow_reader_laws.hpp>

using namespace exchange;
using namespace exchange::testing;

namespace {

using side = beast_side;
using facility = websocket_facility<side::traits, beast_packets>;

struct law_of {
    using of_facilities = facility_law<side, facility>;
    using of_its_end = end_of_day_law<side, facility>;
    using of_long_commands = long_command_law<side, facility>;
    using of_recovery = recovery_law<side, facility>;
    using of_slow_readers = slow_reader_law<side, facility>;
    using of_bad_input = bad_input_law<side, facility>;
    using of_sequence_gaps = sequence_gap_law<side, facility>;
};

}  // namespace

TEST_CASE("asio beast facility: trades are told to both sides and to the public") {
    law_of::of_facilities::trades_are_told_to_both_and_to_the_public();
}
TEST_CASE("asio beast facility: a lost connection loses no message") {
    law_of::of_facilities::a_lost_connection_loses_no_message();
}
TEST_CASE("asio beast facility: a late listener asks for what it missed") {
    law_of::of_facilities::a_late_listener_asks_for_what_it_missed();
}
TEST_CASE("asio beast facility: the newest login of a participant wins") {
    law_of::of_facilities::the_newest_login_of_a_participant_wins();
}
TEST_CASE("asio beast facility: a wrong login is told late and holds nobody") {
    law_of::of_facilities::a_wrong_login_is_told_late_and_holds_nobody();
}
TEST_CASE(
    "asio beast facility: logins that wait for their turn are let in, with what they sent behind") {
    law_of::of_facilities::logins_that_wait_for_their_turn_are_let_in_with_what_they_sent_behind();
}
TEST_CASE("asio beast facility: one that stops leaves no login behind") {
    law_of::of_facilities::a_facility_that_stops_leaves_no_login_behind();
}
TEST_CASE("asio beast facility: twenty operators at once hear their own answers") {
    law_of::of_facilities::twenty_operators_at_once_hear_their_own_answers();
}
TEST_CASE(
    "asio beast facility: a participant that is added trades, and one that is removed is cut") {
    law_of::of_facilities::a_participant_that_is_added_trades_and_one_that_is_removed_is_cut();
}
TEST_CASE("asio beast facility: strangers do not keep participants out") {
    law_of::of_facilities::strangers_do_not_keep_participants_out();
}
TEST_CASE("asio beast facility: the day ends in order") {
    law_of::of_facilities::the_day_ends_in_order();
}
TEST_CASE(
    "asio beast facility: orders of a lost connection follow its policy, and the public is told") {
    law_of::of_facilities::orders_of_a_lost_connection_follow_its_policy_and_the_public_is_told();
}
TEST_CASE(
    "asio beast facility: orders of a silent client follow its policy, and the public is told") {
    law_of::of_facilities::orders_of_a_silent_client_follow_its_policy_and_the_public_is_told();
}
TEST_CASE("asio beast facility: the operator halts the market, and orders are refused") {
    law_of::of_facilities::the_operator_halts_the_market_and_orders_are_refused();
}
TEST_CASE(
    "asio beast facility: a client that comes after the end of the day hears the rest, and the "
    "end") {
    law_of::of_its_end::who_comes_after_the_end_of_the_day_hears_the_rest_and_the_end();
}
TEST_CASE("asio beast facility: commands wait in order behind one that takes many steps") {
    law_of::of_long_commands::commands_wait_in_order_behind_one_that_takes_many_steps();
}
TEST_CASE(
    "asio beast facility: a client that has missed too much asks for its orders, and goes on") {
    law_of::of_recovery::who_was_cut_off_asks_for_its_orders_and_goes_on();
}
TEST_CASE("asio beast facility: a client that reads misses nothing of the largest sweep") {
    law_of::of_slow_readers::who_reads_misses_nothing_of_the_largest_sweep();
}
TEST_CASE("asio beast facility: commands that cannot be are refused with the reason") {
    law_of::of_bad_input::commands_that_cannot_be_are_refused_with_the_reason();
}
TEST_CASE("asio beast facility: a wrong login is rejected with the reason") {
    law_of::of_bad_input::a_wrong_login_is_rejected_with_the_reason();
}
TEST_CASE("asio beast facility: thousands of messages in one write are answered one by one") {
    law_of::of_bad_input::thousands_of_messages_in_one_write_are_answered_one_by_one();
}
TEST_CASE("asio beast facility: messages that are none are refused one by one") {
    law_of::of_bad_input::messages_that_are_none_are_refused_one_by_one();
}
TEST_CASE("asio beast facility: a torn packet does nothing") {
    law_of::of_bad_input::a_torn_packet_does_nothing();
}
TEST_CASE(
    "asio beast facility: a client that reads too slowly is cut off, and others do not notice") {
    law_of::of_slow_readers::who_reads_too_slowly_is_cut_off_and_others_do_not_notice();
}
TEST_CASE("asio beast facility: last words wait behind what is being written") {
    law_of::of_slow_readers::last_words_wait_behind_what_is_being_written();
}
TEST_CASE("asio beast facility: a client that never reads the last words is cut off") {
    law_of::of_slow_readers::who_never_reads_the_last_words_is_cut_off();
}
TEST_CASE("asio beast facility: a login gets exactly what it asks for") {
    law_of::of_sequence_gaps::a_login_gets_exactly_what_it_asks_for();
}

TEST_CASE("asio beast json facility: trades are told to both sides and to the public") {
    const speaking_json format;
    law_of::of_facilities::trades_are_told_to_both_and_to_the_public();
}
TEST_CASE("asio beast json facility: a lost connection loses no message") {
    const speaking_json format;
    law_of::of_facilities::a_lost_connection_loses_no_message();
}
TEST_CASE("asio beast json facility: a late listener asks for what it missed") {
    const speaking_json format;
    law_of::of_facilities::a_late_listener_asks_for_what_it_missed();
}
TEST_CASE("asio beast json facility: the newest login of a participant wins") {
    const speaking_json format;
    law_of::of_facilities::the_newest_login_of_a_participant_wins();
}
TEST_CASE("asio beast json facility: a wrong login is told late and holds nobody") {
    const speaking_json format;
    law_of::of_facilities::a_wrong_login_is_told_late_and_holds_nobody();
}
TEST_CASE(
    "asio beast json facility: logins that wait for their turn are let in, with what they sent "
    "behind") {
    const speaking_json format;
    law_of::of_facilities::logins_that_wait_for_their_turn_are_let_in_with_what_they_sent_behind();
}
TEST_CASE("asio beast json facility: one that stops leaves no login behind") {
    const speaking_json format;
    law_of::of_facilities::a_facility_that_stops_leaves_no_login_behind();
}
TEST_CASE("asio beast json facility: twenty operators at once hear their own answers") {
    const speaking_json format;
    law_of::of_facilities::twenty_operators_at_once_hear_their_own_answers();
}
TEST_CASE(
    "asio beast json facility: a participant that is added trades, and one that is removed is "
    "cut") {
    const speaking_json format;
    law_of::of_facilities::a_participant_that_is_added_trades_and_one_that_is_removed_is_cut();
}
TEST_CASE("asio beast json facility: strangers do not keep participants out") {
    const speaking_json format;
    law_of::of_facilities::strangers_do_not_keep_participants_out();
}
TEST_CASE("asio beast json facility: the day ends in order") {
    const speaking_json format;
    law_of::of_facilities::the_day_ends_in_order();
}
TEST_CASE(
    "asio beast json facility: orders of a lost connection follow its policy, and the public is "
    "told") {
    const speaking_json format;
    law_of::of_facilities::orders_of_a_lost_connection_follow_its_policy_and_the_public_is_told();
}
TEST_CASE(
    "asio beast json facility: orders of a silent client follow its policy, and the public is "
    "told") {
    const speaking_json format;
    law_of::of_facilities::orders_of_a_silent_client_follow_its_policy_and_the_public_is_told();
}
TEST_CASE("asio beast json facility: the operator halts the market, and orders are refused") {
    const speaking_json format;
    law_of::of_facilities::the_operator_halts_the_market_and_orders_are_refused();
}
TEST_CASE(
    "asio beast json facility: a client that comes after the end of the day hears the rest, and "
    "the end") {
    const speaking_json format;
    law_of::of_its_end::who_comes_after_the_end_of_the_day_hears_the_rest_and_the_end();
}
TEST_CASE("asio beast json facility: commands wait in order behind one that takes many steps") {
    const speaking_json format;
    law_of::of_long_commands::commands_wait_in_order_behind_one_that_takes_many_steps();
}
TEST_CASE(
    "asio beast json facility: a client that has missed too much asks for its orders, and goes "
    "on") {
    const speaking_json format;
    law_of::of_recovery::who_was_cut_off_asks_for_its_orders_and_goes_on();
}
TEST_CASE("asio beast json facility: a client that reads misses nothing of the largest sweep") {
    const speaking_json format;
    law_of::of_slow_readers::who_reads_misses_nothing_of_the_largest_sweep();
}
TEST_CASE("asio beast json facility: commands that cannot be are refused with the reason") {
    const speaking_json format;
    law_of::of_bad_input::commands_that_cannot_be_are_refused_with_the_reason();
}
TEST_CASE("asio beast json facility: a wrong login is rejected with the reason") {
    const speaking_json format;
    law_of::of_bad_input::a_wrong_login_is_rejected_with_the_reason();
}
TEST_CASE("asio beast json facility: thousands of messages in one write are answered one by one") {
    const speaking_json format;
    law_of::of_bad_input::thousands_of_messages_in_one_write_are_answered_one_by_one();
}
