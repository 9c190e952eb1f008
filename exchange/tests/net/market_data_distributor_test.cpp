// SPDX-License-Identifier: BSL-1.0
//
// The laws of a distributor on the coroutines of gyre, over every backend.
#include <exchange/server/market_data_distributor.hpp>

#include <exchange/tests/net/distributor_laws.hpp>
#include <exchange/tests/net/gyre_side.hpp>

using namespace exchange;
using namespace exchange::testing;
using laws = distributor_law<gyre_side>;

TEST_CASE("gyre distributor: books, trades and sums are told as they change") {
    laws::books_trades_and_sums_are_told_as_they_change();
}
TEST_CASE("gyre distributor: one that comes late asks for books and sums") {
    laws::one_that_comes_late_asks_for_books_and_sums();
}
TEST_CASE("gyre distributor: one that opens with its feed lets in when it knows all books") {
    laws::one_that_opens_with_its_feed_lets_in_when_it_knows_all_books();
}
TEST_CASE("gyre distributor: another life is another market") {
    laws::another_life_is_another_market();
}
TEST_CASE("gyre distributor: a feed that falls silent leaves no complete book") {
    laws::a_feed_that_falls_silent_leaves_no_complete_book();
}
TEST_CASE("gyre distributor: while its feed is silent no book is asked for") {
    laws::while_its_feed_is_silent_no_book_is_asked_for();
}
TEST_CASE("gyre distributor: a wrong password subscribes to nothing") {
    laws::a_wrong_password_subscribes_to_nothing();
}
TEST_CASE("gyre distributor: a subscriber that comes again subscribes again") {
    laws::one_that_comes_again_subscribes_again();
}
TEST_CASE("gyre distributor: what is heard is sent once more if it is to be") {
    laws::what_is_heard_is_sent_once_more_if_it_is_to_be();
}
TEST_CASE("gyre distributor: one that drains lets subscribers leave and logs out") {
    laws::one_that_drains_lets_subscribers_leave_and_logs_out();
}
TEST_CASE("gyre distributor: one that drains sends those away who stay") {
    laws::one_that_drains_sends_those_away_who_stay();
}
TEST_CASE("gyre distributor: a login that the exchange refuses is told") {
    laws::a_login_that_the_exchange_refuses_is_told();
}
TEST_CASE("gyre distributor: one that drains alone is through when it has logged out") {
    laws::one_that_drains_alone_is_through_when_it_has_logged_out();
}

TEST_CASE("gyre tls distributor: subscribers are told what changes, and come again") {
    const speaking_tls secured;
    laws::books_trades_and_sums_are_told_as_they_change();
    laws::one_that_comes_again_subscribes_again();
    laws::one_that_drains_lets_subscribers_leave_and_logs_out();
}
