// SPDX-License-Identifier: BSL-1.0
//
// The laws of a matching facility on the coroutines of Asio.
#include <exchange/net/application/matching_facility.hpp>

#include <exchange/tests/net/asio_side.hpp>
#include <exchange/tests/net/bad_input_laws.hpp>
#include <exchange/tests/net/crowded_feed_laws.hpp>
#include <exchange/tests/net/end_of_day_laws.hpp>
#include <exchange/tests/net/facility_laws.hpp>
#include <exchange/tests/net/life_laws.hpp>
#include <exchange/tests/net/long_command_laws.hpp>
#include <exchange/tests/net/recovery_laws.hpp>
#include <exchange/tests/net/sequence_gap_laws.hpp>
#include <exchange/tests/net/slow_reader_laws.hpp>
#include <exchange/tests/net/snapshot_laws.hpp>

using namespace exchange;
using namespace exchange::testing;
using bad_input_here = bad_input_law<asio_side, matching_facility<asio_traits>>;
using crowded_feed_here = crowded_feed_law<asio_side, matching_facility<asio_traits>>;
using sequence_gap_here = sequence_gap_law<asio_side, matching_facility<asio_traits>>;
using slow_reader_here = slow_reader_law<asio_side, matching_facility<asio_traits>>;
using law_here = facility_law<asio_side, matching_facility<asio_traits>>;
using of_its_end = end_of_day_law<asio_side, matching_facility<asio_traits>>;
using of_its_lives = life_law<asio_side, matching_facility<asio_traits>>;

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
TEST_CASE("asio facility: a wrong login is told late and holds nobody") {
    law_here::a_wrong_login_is_told_late_and_holds_nobody();
}
TEST_CASE("asio facility: logins that wait for their turn are let in, with what they sent behind") {
    law_here::logins_that_wait_for_their_turn_are_let_in_with_what_they_sent_behind();
}
TEST_CASE("asio facility: one that stops leaves no login behind") {
    law_here::a_facility_that_stops_leaves_no_login_behind();
}
TEST_CASE("asio facility: twenty operators at once hear their own answers") {
    law_here::twenty_operators_at_once_hear_their_own_answers();
}
TEST_CASE("asio facility: a participant that is added trades, and one that is removed is cut") {
    law_here::a_participant_that_is_added_trades_and_one_that_is_removed_is_cut();
}
TEST_CASE("asio facility: strangers do not keep participants out") {
    law_here::strangers_do_not_keep_participants_out();
}
TEST_CASE("asio facility: bytes that are no packets end the connection with the reason") {
    law_here::bytes_that_are_no_packets_end_the_connection_with_the_reason();
}
TEST_CASE("asio facility: a client that does not log in is sent away") {
    law_here::who_does_not_log_in_is_sent_away();
}
TEST_CASE("asio facility: the day ends in order") { law_here::the_day_ends_in_order(); }
TEST_CASE(
    "asio facility: a client that comes after the end of the day hears the rest, and the end") {
    of_its_end::who_comes_after_the_end_of_the_day_hears_the_rest_and_the_end();
}
TEST_CASE("asio facility: nothing changes after the end of the day, and strangers are sent away") {
    of_its_end::nothing_changes_after_the_end_of_the_day_and_strangers_are_sent_away();
}
TEST_CASE("asio facility: a client that was away learns that the next day is another life") {
    of_its_lives::whoever_was_away_learns_that_the_next_day_is_another_life();
}
TEST_CASE(
    "asio facility: a client that has missed too much of its life is told that, and not that it is "
    "over") {
    of_its_lives::who_has_missed_too_much_of_its_life_is_told_that_and_not_that_it_is_over();
}
TEST_CASE("asio facility: a request for messages that comes as it stops does no harm") {
    of_its_end::a_request_that_comes_as_it_stops_does_no_harm();
}
TEST_CASE("asio facility: orders of a lost connection follow its policy, and the public is told") {
    law_here::orders_of_a_lost_connection_follow_its_policy_and_the_public_is_told();
}
TEST_CASE("asio facility: orders of a silent client follow its policy, and the public is told") {
    law_here::orders_of_a_silent_client_follow_its_policy_and_the_public_is_told();
}
TEST_CASE("asio facility: the operator halts the market, and orders are refused") {
    law_here::the_operator_halts_the_market_and_orders_are_refused();
}
TEST_CASE("asio facility: a client that reads too slowly is cut off, and others do not notice") {
    slow_reader_here::who_reads_too_slowly_is_cut_off_and_others_do_not_notice();
}
TEST_CASE("asio facility: messages that are none are refused one by one") {
    bad_input_here::messages_that_are_none_are_refused_one_by_one();
}
TEST_CASE("asio facility: commands that cannot be are refused with the reason") {
    bad_input_here::commands_that_cannot_be_are_refused_with_the_reason();
}
TEST_CASE("asio facility: packets out of phase end the connection with the reason") {
    bad_input_here::packets_out_of_phase_end_the_connection_with_the_reason();
}
TEST_CASE("asio facility: a wrong login is rejected with the reason") {
    bad_input_here::a_wrong_login_is_rejected_with_the_reason();
}
TEST_CASE("asio facility: a torn packet does nothing") {
    bad_input_here::a_torn_packet_does_nothing();
}
TEST_CASE("asio facility: where bytes are cut makes no difference") {
    bad_input_here::where_bytes_are_cut_makes_no_difference();
}
TEST_CASE("asio facility: thousands of messages in one write are answered one by one") {
    bad_input_here::thousands_of_messages_in_one_write_are_answered_one_by_one();
}
TEST_CASE("asio facility: a client that reads misses nothing of the largest sweep") {
    slow_reader_here::who_reads_misses_nothing_of_the_largest_sweep();
}
TEST_CASE("asio facility: last words wait behind what is being written") {
    slow_reader_here::last_words_wait_behind_what_is_being_written();
}
TEST_CASE(
    "asio facility: a client outrun behind its end is cut off before it hears something else") {
    slow_reader_here::whoever_is_outrun_behind_the_end_is_cut_off_before_it_hears_something_else();
}
TEST_CASE("asio facility: a client that never reads the last words is cut off") {
    slow_reader_here::who_never_reads_the_last_words_is_cut_off();
}
TEST_CASE("asio facility: a login gets exactly what it asks for") {
    sequence_gap_here::a_login_gets_exactly_what_it_asks_for();
}
TEST_CASE("asio facility: a request gets exactly what it asks for, or nothing") {
    sequence_gap_here::a_request_gets_exactly_what_it_asks_for_or_nothing();
}
TEST_CASE("asio facility: a listener asks for exactly what it missed") {
    sequence_gap_here::a_listener_asks_for_exactly_what_it_missed();
}
TEST_CASE("asio facility: what is kept no more is missed, and the rest is heard") {
    sequence_gap_here::what_is_kept_no_more_is_missed_and_the_rest_is_heard();
}
TEST_CASE("asio facility: a turn ends before it pushes out what was not sent") {
    crowded_feed_here::a_turn_ends_before_it_pushes_out_what_was_not_sent();
}
TEST_CASE("asio facility: what one command pushes out unsent is counted") {
    crowded_feed_here::what_one_command_pushes_out_unsent_is_counted();
}
TEST_CASE("asio facility: a listener that has missed too much asks for the book, and goes on") {
    snapshot_law<asio_side, matching_facility<asio_traits>>::
        who_has_missed_too_much_asks_for_the_book_and_goes_on();
}
TEST_CASE("asio facility: commands wait in order behind one that takes many steps") {
    long_command_law<asio_side, matching_facility<asio_traits>>::
        commands_wait_in_order_behind_one_that_takes_many_steps();
}
TEST_CASE("asio facility: a command ends though its client has gone") {
    long_command_law<asio_side,
                     matching_facility<asio_traits>>::a_command_ends_though_its_client_has_gone();
}
TEST_CASE("asio facility: two partitions trade through one port") {
    long_command_law<asio_side,
                     matching_facility<asio_traits>>::two_partitions_trade_through_one_port();
}
TEST_CASE("asio facility: a client that was cut off for long asks for its orders, and goes on") {
    recovery_law<asio_side,
                 matching_facility<asio_traits>>::who_was_cut_off_asks_for_its_orders_and_goes_on();
}
