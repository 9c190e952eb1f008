// SPDX-License-Identifier: BSL-1.0
//
// The laws of a matching facility on Asio's completion handlers, in both ways of writing.
#include <exchange/net/application/callback_facility.hpp>

#include <exchange/tests/net/asio_world.hpp>
#include <exchange/tests/net/facility_laws.hpp>

using namespace exchange;
using namespace exchange::testing;

namespace {

/// One that writes on the spot what can be.
class eager_facility {
public:
    eager_facility(asio_loop& loop, matching_service& service, const facility_options& options)
        : it_{loop, service, options, nullptr, callback_style::tried_first} {}

    [[nodiscard]] gyre::io_result<> start() { return it_.start(); }
    [[nodiscard]] const gyre::endpoint& order_entry() const { return it_.order_entry(); }
    [[nodiscard]] const gyre::endpoint& feed_requests() const { return it_.feed_requests(); }
    void drain() { it_.drain(); }
    [[nodiscard]] bool idle() const { return it_.idle(); }
    void stop() { it_.stop(); }
    [[nodiscard]] const feed_counts& feed() const { return it_.feed(); }

private:
    callback_facility it_;
};

using the_laws = facility_law<asio_world, callback_facility>;
using the_laws_when_eager = facility_law<asio_world, eager_facility>;

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
TEST_CASE("callback facility: strangers do not keep participants out") {
    the_laws::strangers_do_not_keep_participants_out();
    the_laws_when_eager::strangers_do_not_keep_participants_out();
}
TEST_CASE("callback facility: bytes that are no packets end the connection with the reason") {
    the_laws::bytes_that_are_no_packets_end_the_connection_with_the_reason();
    the_laws_when_eager::bytes_that_are_no_packets_end_the_connection_with_the_reason();
}
TEST_CASE("callback facility: who does not log in is sent away") {
    the_laws::who_does_not_log_in_is_sent_away();
    the_laws_when_eager::who_does_not_log_in_is_sent_away();
}
TEST_CASE("callback facility: the day ends in order") {
    the_laws::the_day_ends_in_order();
    the_laws_when_eager::the_day_ends_in_order();
}
