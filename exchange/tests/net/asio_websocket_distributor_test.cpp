// SPDX-License-Identifier: BSL-1.0
//
// The laws of a distributor on Asio, with subscribers that speak WebSocket by Boost.Beast, binary and JSON.
#include <exchange/tests/net/beast_side.hpp>
#include <exchange/tests/net/distributor_laws.hpp>

using namespace exchange;
using namespace exchange::testing;
using laws = distributor_law<beast_side, asio_traits, beast_packets>;

TEST_CASE("asio beast distributor: books, trades and sums are told as they change") {
    laws::books_trades_and_sums_are_told_as_they_change();
}
TEST_CASE("asio beast distributor: one that comes late asks for books and sums") {
    laws::one_that_comes_late_asks_for_books_and_sums();
}
TEST_CASE("asio beast distributor: another life is another market") {
    laws::another_life_is_another_market();
}
TEST_CASE("asio beast distributor: a feed that falls silent leaves no complete book") {
    laws::a_feed_that_falls_silent_leaves_no_complete_book();
}
TEST_CASE("asio beast distributor: while its feed is silent no book is asked for") {
    laws::while_its_feed_is_silent_no_book_is_asked_for();
}
TEST_CASE("asio beast distributor: a wrong password subscribes to nothing") {
    laws::a_wrong_password_subscribes_to_nothing();
}
TEST_CASE("asio beast distributor: a subscriber that comes again subscribes again") {
    laws::one_that_comes_again_subscribes_again();
}
TEST_CASE("asio beast distributor: what is heard is sent once more if it is to be") {
    laws::what_is_heard_is_sent_once_more_if_it_is_to_be();
}
TEST_CASE("asio beast distributor, JSON: books, trades and sums are told as they change") {
    const speaking_json format;
    laws::books_trades_and_sums_are_told_as_they_change();
}
TEST_CASE("asio beast distributor, JSON: one that comes late asks for books and sums") {
    const speaking_json format;
    laws::one_that_comes_late_asks_for_books_and_sums();
}
TEST_CASE("asio beast distributor, JSON: another life is another market") {
    const speaking_json format;
    laws::another_life_is_another_market();
}
TEST_CASE("asio beast distributor, JSON: a feed that falls silent leaves no complete book") {
    const speaking_json format;
    laws::a_feed_that_falls_silent_leaves_no_complete_book();
}
TEST_CASE("asio beast distributor, JSON: while its feed is silent no book is asked for") {
    const speaking_json format;
    laws::while_its_feed_is_silent_no_book_is_asked_for();
}
TEST_CASE("asio beast distributor, JSON: a wrong password subscribes to nothing") {
    const speaking_json format;
    laws::a_wrong_password_subscribes_to_nothing();
}
TEST_CASE("asio beast distributor, JSON: a subscriber that comes again subscribes again") {
    const speaking_json format;
    laws::one_that_comes_again_subscribes_again();
}
TEST_CASE("asio beast distributor, JSON: what is heard is sent once more if it is to be") {
    const speaking_json format;
    laws::what_is_heard_is_sent_once_more_if_it_is_to_be();
}
