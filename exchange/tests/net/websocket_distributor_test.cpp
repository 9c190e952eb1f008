// SPDX-License-Identifier: BSL-1.0
//
// The laws of a distributor on gyre, with subscribers that speak WebSocket, binary and as JSON.
#include <exchange/tests/net/distributor_laws.hpp>
#include <exchange/tests/net/gyre_side.hpp>
#include <exchange/tests/net/websocket_side.hpp>

using namespace exchange;
using namespace exchange::testing;
using laws = distributor_law<websocket_side<gyre_side>, gyre_traits,
                             websocket_packets<over_websocket<gyre_traits>>>;

TEST_CASE("gyre websocket distributor: books, trades and sums are told as they change") {
    laws::books_trades_and_sums_are_told_as_they_change();
}
TEST_CASE("gyre websocket distributor: one that comes late asks for books and sums") {
    laws::one_that_comes_late_asks_for_books_and_sums();
}
TEST_CASE("gyre websocket distributor: another life is another market") {
    laws::another_life_is_another_market();
}
TEST_CASE("gyre websocket distributor: a feed that falls silent leaves no complete book") {
    laws::a_feed_that_falls_silent_leaves_no_complete_book();
}
TEST_CASE("gyre websocket distributor: while its feed is silent no book is asked for") {
    laws::while_its_feed_is_silent_no_book_is_asked_for();
}
TEST_CASE("gyre websocket distributor: a wrong password subscribes to nothing") {
    laws::a_wrong_password_subscribes_to_nothing();
}
TEST_CASE("gyre websocket distributor: a subscriber that comes again subscribes again") {
    laws::one_that_comes_again_subscribes_again();
}
TEST_CASE("gyre websocket distributor: what is heard is sent once more if it is to be") {
    laws::what_is_heard_is_sent_once_more_if_it_is_to_be();
}
TEST_CASE("gyre websocket distributor, JSON: books, trades and sums are told as they change") {
    const speaking_json format;
    laws::books_trades_and_sums_are_told_as_they_change();
}
TEST_CASE("gyre websocket distributor, JSON: one that comes late asks for books and sums") {
    const speaking_json format;
    laws::one_that_comes_late_asks_for_books_and_sums();
}
TEST_CASE("gyre websocket distributor, JSON: another life is another market") {
    const speaking_json format;
    laws::another_life_is_another_market();
}
TEST_CASE("gyre websocket distributor, JSON: a feed that falls silent leaves no complete book") {
    const speaking_json format;
    laws::a_feed_that_falls_silent_leaves_no_complete_book();
}
TEST_CASE("gyre websocket distributor, JSON: while its feed is silent no book is asked for") {
    const speaking_json format;
    laws::while_its_feed_is_silent_no_book_is_asked_for();
}
TEST_CASE("gyre websocket distributor, JSON: a wrong password subscribes to nothing") {
    const speaking_json format;
    laws::a_wrong_password_subscribes_to_nothing();
}
TEST_CASE("gyre websocket distributor, JSON: a subscriber that comes again subscribes again") {
    const speaking_json format;
    laws::one_that_comes_again_subscribes_again();
}
TEST_CASE("gyre websocket distributor, JSON: what is heard is sent once more if it is to be") {
    const speaking_json format;
    laws::what_is_heard_is_sent_once_more_if_it_is_to_be();
}

TEST_CASE("gyre tls websocket distributor: subscribers are told what changes, and come again") {
    const speaking_tls secured;
    laws::books_trades_and_sums_are_told_as_they_change();
    laws::one_that_comes_again_subscribes_again();
    laws::one_that_drains_lets_subscribers_leave_and_logs_out();
    const speaking_json format;
    laws::books_trades_and_sums_are_told_as_they_change();
}
