// SPDX-License-Identifier: BSL-1.0
//
// The laws of a matching facility on Asio's completion handlers, in both ways of writing.
#include <exchange/net/asio/callback/facility.hpp>

#include <exchange/tests/net/asio_side.hpp>
#include <exchange/tests/net/bad_input_laws.hpp>
#include <exchange/tests/net/crowded_feed_laws.hpp>
#include <exchange/tests/net/eager_facility.hpp>
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

namespace {

using the_laws = facility_law<asio_side, callback_facility>;
using of_bad_input = bad_input_law<asio_side, callback_facility>;
using of_bad_input_when_eager = bad_input_law<asio_side, eager_facility>;
using of_crowded_feeds = crowded_feed_law<asio_side, callback_facility>;
using of_crowded_feeds_when_eager = crowded_feed_law<asio_side, eager_facility>;
using of_its_end = end_of_day_law<asio_side, callback_facility>;
using of_its_end_when_eager = end_of_day_law<asio_side, eager_facility>;
using of_its_lives = life_law<asio_side, callback_facility>;
using of_its_lives_when_eager = life_law<asio_side, eager_facility>;
using the_laws_when_eager = facility_law<asio_side, eager_facility>;
using of_sequence_gaps = sequence_gap_law<asio_side, callback_facility>;
using of_sequence_gaps_when_eager = sequence_gap_law<asio_side, eager_facility>;
using of_slow_readers = slow_reader_law<asio_side, callback_facility>;
using of_slow_readers_when_eager = slow_reader_law<asio_side, eager_facility>;

}  // namespace

TEST_CASE("callback facility: trades are told to both sides and to the public") {
    the_laws::trades_are_told_to_both_and_to_the_public();
    the_laws_when_eager::trades_are_told_to_both_and_to_the_public();
}
TEST_CASE("callback facility: a lost connection loses no message") {
    the_laws::a_lost_connection_loses_no_message();
    the_laws_when_eager::a_lost_connection_loses_no_message();
}
TEST_CASE("callback facility: a late listener asks for what it missed") {
    the_laws::a_late_listener_asks_for_what_it_missed();
    the_laws_when_eager::a_late_listener_asks_for_what_it_missed();
}
TEST_CASE("callback facility: the newest login of a participant wins") {
    the_laws::the_newest_login_of_a_participant_wins();
    the_laws_when_eager::the_newest_login_of_a_participant_wins();
}
TEST_CASE("callback facility: a wrong login is told late and holds nobody") {
    the_laws::a_wrong_login_is_told_late_and_holds_nobody();
    the_laws_when_eager::a_wrong_login_is_told_late_and_holds_nobody();
}
TEST_CASE(
    "callback facility: logins that wait for their turn are let in, with what they sent behind") {
    the_laws::logins_that_wait_for_their_turn_are_let_in_with_what_they_sent_behind();
    the_laws_when_eager::logins_that_wait_for_their_turn_are_let_in_with_what_they_sent_behind();
}
TEST_CASE("callback facility: one that stops leaves no login behind") {
    the_laws::a_facility_that_stops_leaves_no_login_behind();
    the_laws_when_eager::a_facility_that_stops_leaves_no_login_behind();
}
TEST_CASE("callback facility: twenty operators at once hear their own answers") {
    the_laws::twenty_operators_at_once_hear_their_own_answers();
    the_laws_when_eager::twenty_operators_at_once_hear_their_own_answers();
}
TEST_CASE("callback facility: a participant that is added trades, and one that is removed is cut") {
    the_laws::a_participant_that_is_added_trades_and_one_that_is_removed_is_cut();
    the_laws_when_eager::a_participant_that_is_added_trades_and_one_that_is_removed_is_cut();
}
TEST_CASE("callback facility: strangers do not keep participants out") {
    the_laws::strangers_do_not_keep_participants_out();
    the_laws_when_eager::strangers_do_not_keep_participants_out();
}
TEST_CASE("callback facility: bytes that are no packets end the connection with the reason") {
    the_laws::bytes_that_are_no_packets_end_the_connection_with_the_reason();
    the_laws_when_eager::bytes_that_are_no_packets_end_the_connection_with_the_reason();
}
TEST_CASE("callback facility: a client that does not log in is sent away") {
    the_laws::who_does_not_log_in_is_sent_away();
    the_laws_when_eager::who_does_not_log_in_is_sent_away();
}
TEST_CASE("callback facility: the day ends in order") {
    the_laws::the_day_ends_in_order();
    the_laws_when_eager::the_day_ends_in_order();
}
TEST_CASE(
    "callback facility: a client that comes after the end of the day hears the rest, and the end") {
    of_its_end::who_comes_after_the_end_of_the_day_hears_the_rest_and_the_end();
    of_its_end_when_eager::who_comes_after_the_end_of_the_day_hears_the_rest_and_the_end();
}
TEST_CASE(
    "callback facility: nothing changes after the end of the day, and strangers are sent away") {
    of_its_end::nothing_changes_after_the_end_of_the_day_and_strangers_are_sent_away();
    of_its_end_when_eager::nothing_changes_after_the_end_of_the_day_and_strangers_are_sent_away();
}
TEST_CASE("callback facility: a client that was away learns that the next day is another life") {
    of_its_lives::whoever_was_away_learns_that_the_next_day_is_another_life();
    of_its_lives_when_eager::whoever_was_away_learns_that_the_next_day_is_another_life();
}
TEST_CASE(
    "callback facility: a client that has missed too much of its life is told that, and not that "
    "it is over") {
    of_its_lives::who_has_missed_too_much_of_its_life_is_told_that_and_not_that_it_is_over();
    of_its_lives_when_eager::
        who_has_missed_too_much_of_its_life_is_told_that_and_not_that_it_is_over();
}
TEST_CASE("callback facility: a request for messages that comes as it stops does no harm") {
    of_its_end::a_request_that_comes_as_it_stops_does_no_harm();
    of_its_end_when_eager::a_request_that_comes_as_it_stops_does_no_harm();
}
TEST_CASE(
    "callback facility: orders of a lost connection follow its policy, and the public is told") {
    the_laws::orders_of_a_lost_connection_follow_its_policy_and_the_public_is_told();
    the_laws_when_eager::orders_of_a_lost_connection_follow_its_policy_and_the_public_is_told();
}
TEST_CASE(
    "callback facility: orders of a silent client follow its policy, and the public is told") {
    the_laws::orders_of_a_silent_client_follow_its_policy_and_the_public_is_told();
    the_laws_when_eager::orders_of_a_silent_client_follow_its_policy_and_the_public_is_told();
}
TEST_CASE("callback facility: the operator halts the market, and orders are refused") {
    the_laws::the_operator_halts_the_market_and_orders_are_refused();
    the_laws_when_eager::the_operator_halts_the_market_and_orders_are_refused();
}
TEST_CASE(
    "callback facility: a client that reads too slowly is cut off, and others do not notice") {
    of_slow_readers::who_reads_too_slowly_is_cut_off_and_others_do_not_notice();
    of_slow_readers_when_eager::who_reads_too_slowly_is_cut_off_and_others_do_not_notice();
}
TEST_CASE("callback facility: messages that are none are refused one by one") {
    of_bad_input::messages_that_are_none_are_refused_one_by_one();
    of_bad_input_when_eager::messages_that_are_none_are_refused_one_by_one();
}
TEST_CASE("callback facility: commands that cannot be are refused with the reason") {
    of_bad_input::commands_that_cannot_be_are_refused_with_the_reason();
    of_bad_input_when_eager::commands_that_cannot_be_are_refused_with_the_reason();
}
TEST_CASE("callback facility: packets out of phase end the connection with the reason") {
    of_bad_input::packets_out_of_phase_end_the_connection_with_the_reason();
    of_bad_input_when_eager::packets_out_of_phase_end_the_connection_with_the_reason();
}
TEST_CASE("callback facility: a wrong login is rejected with the reason") {
    of_bad_input::a_wrong_login_is_rejected_with_the_reason();
    of_bad_input_when_eager::a_wrong_login_is_rejected_with_the_reason();
}
TEST_CASE("callback facility: a torn packet does nothing") {
    of_bad_input::a_torn_packet_does_nothing();
    of_bad_input_when_eager::a_torn_packet_does_nothing();
}
TEST_CASE("callback facility: where bytes are cut makes no difference") {
    of_bad_input::where_bytes_are_cut_makes_no_difference();
    of_bad_input_when_eager::where_bytes_are_cut_makes_no_difference();
}
TEST_CASE("callback facility: thousands of messages in one write are answered one by one") {
    of_bad_input::thousands_of_messages_in_one_write_are_answered_one_by_one();
    of_bad_input_when_eager::thousands_of_messages_in_one_write_are_answered_one_by_one();
}
TEST_CASE("callback facility: a client that reads misses nothing of the largest sweep") {
    of_slow_readers::who_reads_misses_nothing_of_the_largest_sweep();
    of_slow_readers_when_eager::who_reads_misses_nothing_of_the_largest_sweep();
}
TEST_CASE("callback facility: last words wait behind what is being written") {
    of_slow_readers::last_words_wait_behind_what_is_being_written();
    of_slow_readers_when_eager::last_words_wait_behind_what_is_being_written();
}
TEST_CASE(
    "callback facility: a client outrun behind its end is cut off before it hears something else") {
    of_slow_readers::whoever_is_outrun_behind_the_end_is_cut_off_before_it_hears_something_else();
    of_slow_readers_when_eager::
        whoever_is_outrun_behind_the_end_is_cut_off_before_it_hears_something_else();
}
TEST_CASE("callback facility: a client that never reads the last words is cut off") {
    of_slow_readers::who_never_reads_the_last_words_is_cut_off();
    of_slow_readers_when_eager::who_never_reads_the_last_words_is_cut_off();
}
TEST_CASE("callback facility: a login gets exactly what it asks for") {
    of_sequence_gaps::a_login_gets_exactly_what_it_asks_for();
    of_sequence_gaps_when_eager::a_login_gets_exactly_what_it_asks_for();
}
TEST_CASE("callback facility: a request gets exactly what it asks for, or nothing") {
    of_sequence_gaps::a_request_gets_exactly_what_it_asks_for_or_nothing();
    of_sequence_gaps_when_eager::a_request_gets_exactly_what_it_asks_for_or_nothing();
}
TEST_CASE("callback facility: a listener asks for exactly what it missed") {
    of_sequence_gaps::a_listener_asks_for_exactly_what_it_missed();
    of_sequence_gaps_when_eager::a_listener_asks_for_exactly_what_it_missed();
}
TEST_CASE("callback facility: what is kept no more is missed, and the rest is heard") {
    of_sequence_gaps::what_is_kept_no_more_is_missed_and_the_rest_is_heard();
    of_sequence_gaps_when_eager::what_is_kept_no_more_is_missed_and_the_rest_is_heard();
}
TEST_CASE("callback facility: a turn ends before it pushes out what was not sent") {
    of_crowded_feeds::a_turn_ends_before_it_pushes_out_what_was_not_sent();
    of_crowded_feeds_when_eager::a_turn_ends_before_it_pushes_out_what_was_not_sent();
}
TEST_CASE("callback facility: what one command pushes out unsent is counted") {
    of_crowded_feeds::what_one_command_pushes_out_unsent_is_counted();
    of_crowded_feeds_when_eager::what_one_command_pushes_out_unsent_is_counted();
}
TEST_CASE("callback facility: a listener that has missed too much asks for the book, and goes on") {
    snapshot_law<asio_side,
                 callback_facility>::who_has_missed_too_much_asks_for_the_book_and_goes_on();
    snapshot_law<asio_side,
                 eager_facility>::who_has_missed_too_much_asks_for_the_book_and_goes_on();
}
TEST_CASE("callback facility: commands wait in order behind one that takes many steps") {
    long_command_law<asio_side,
                     callback_facility>::commands_wait_in_order_behind_one_that_takes_many_steps();
}
TEST_CASE("callback facility: a command ends though its client has gone") {
    long_command_law<asio_side, callback_facility>::a_command_ends_though_its_client_has_gone();
}
TEST_CASE("callback facility: two partitions trade through one port") {
    long_command_law<asio_side, callback_facility>::two_partitions_trade_through_one_port();
}
TEST_CASE(
    "callback facility: a client that was cut off for long asks for its orders, and goes on") {
    recovery_law<asio_side, callback_facility>::who_was_cut_off_asks_for_its_orders_and_goes_on();
    recovery_law<asio_side, eager_facility>::who_was_cut_off_asks_for_its_orders_and_goes_on();
}
