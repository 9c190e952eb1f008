// SPDX-License-Identifier: BSL-1.0
//
// The laws of the feed on the coroutines of Asio.
#include <exchange/tests/net/asio_side.hpp>
#include <exchange/tests/net/feed_laws.hpp>
#include <exchange/tests/net/listener_laws.hpp>

using namespace exchange;
using namespace exchange::testing;
using law_here = feed_law<asio_side, feed_of_coroutines<asio_traits>>;

TEST_CASE("asio feed: who sends is let go, however much others cause meanwhile") {
    law_here::who_sends_is_let_go_however_much_others_cause();
}
TEST_CASE("asio feed: closing it while what others have caused waits ends it") {
    law_here::closing_while_others_messages_wait_ends_it();
}
TEST_CASE("asio feed: a datagram that cannot be sent is left out") {
    law_here::a_datagram_that_cannot_be_sent_is_left_out();
}
TEST_CASE("asio feed: a request without an answer keeps back none behind it") {
    law_here::a_request_without_an_answer_keeps_back_none_behind_it();
}
TEST_CASE("asio feed: a request beyond the limit of answers gets none") {
    law_here::a_request_beyond_the_limit_of_answers_gets_none();
}
TEST_CASE("asio feed: a receive that fails is tried again after a pause") {
    law_here::a_receive_that_fails_is_tried_again_after_a_pause();
}
TEST_CASE("asio feed: a listener's receive that fails is tried again after a pause") {
    listener_law<asio_side>::a_receive_that_fails_is_tried_again_after_a_pause();
}
TEST_CASE("asio feed: an address that is no group's is one listener's") {
    listener_law<asio_side>::an_address_that_is_no_groups_is_one_listeners();
}
TEST_CASE("asio feed: a silence is told once, and again behind a heartbeat") {
    listener_law<asio_side>::a_silence_is_told_once_and_again_behind_a_heartbeat();
}
