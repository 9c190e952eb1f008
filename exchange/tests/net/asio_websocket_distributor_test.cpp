// SPDX-License-Identifier: BSL-1.0
//
// The laws of a distributor on Asio, with subscribers that speak WebSocket by Boost.Beast, binary and JSON.
#include <exchange/tests/net/beast_side.hpp>
#include <exchange/tests/net/distributor_laws.hpp>

using namespace exchange;
using namespace exchange::testing;

namespace {

template <session_format Format>
using law_of = distributor_law<beast_side<Format>, asio_traits, beast_packets>;
using of_binary = law_of<session_format::sbe>;
using of_texts = law_of<session_format::json>;

}  // namespace

TEST_CASE("asio beast distributor: books, trades and sums are told as they change") {
    of_binary::books_trades_and_sums_are_told_as_they_change();
}
TEST_CASE("asio beast distributor: one that comes late asks for books and sums") {
    of_binary::one_that_comes_late_asks_for_books_and_sums();
}
TEST_CASE("asio beast distributor: another life is another market") {
    of_binary::another_life_is_another_market();
}
TEST_CASE("asio beast distributor: a feed that falls silent leaves no complete book") {
    of_binary::a_feed_that_falls_silent_leaves_no_complete_book();
}
TEST_CASE("asio beast distributor: a wrong password subscribes to nothing") {
    of_binary::a_wrong_password_subscribes_to_nothing();
}
TEST_CASE("asio beast distributor: a subscriber that comes again subscribes again") {
    of_binary::one_that_comes_again_subscribes_again();
}
TEST_CASE("asio beast distributor: what is heard is sent once more if it is to be") {
    of_binary::what_is_heard_is_sent_once_more_if_it_is_to_be();
}
TEST_CASE("asio beast distributor, JSON: books, trades and sums are told as they change") {
    of_texts::books_trades_and_sums_are_told_as_they_change();
}
TEST_CASE("asio beast distributor, JSON: one that comes late asks for books and sums") {
    of_texts::one_that_comes_late_asks_for_books_and_sums();
}
TEST_CASE("asio beast distributor, JSON: another life is another market") {
    of_texts::another_life_is_another_market();
}
TEST_CASE("asio beast distributor, JSON: a feed that falls silent leaves no complete book") {
    of_texts::a_feed_that_falls_silent_leaves_no_complete_book();
}
TEST_CASE("asio beast distributor, JSON: a wrong password subscribes to nothing") {
    of_texts::a_wrong_password_subscribes_to_nothing();
}
TEST_CASE("asio beast distributor, JSON: a subscriber that comes again subscribes again") {
    of_texts::one_that_comes_again_subscribes_again();
}
TEST_CASE("asio beast distributor, JSON: what is heard is sent once more if it is to be") {
    of_texts::what_is_heard_is_sent_once_more_if_it_is_to_be();
}
