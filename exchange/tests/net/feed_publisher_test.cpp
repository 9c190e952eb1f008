// SPDX-License-Identifier: BSL-1.0
//
// The laws of the feed on gyre's coroutines.
#include <exchange/net/transport/feed_publisher.hpp>

#include <exchange/tests/net/feed_laws.hpp>
#include <exchange/tests/net/gyre_world.hpp>

using namespace exchange;
using namespace exchange::testing;
using law_here = feed_law<gyre_world, feed_of_coroutines<gyre_traits>>;

TEST_CASE("gyre feed: a datagram that cannot be sent is left out") {
    law_here::a_datagram_that_cannot_be_sent_is_left_out();
}
TEST_CASE("gyre feed: a request without an answer keeps back none behind it") {
    law_here::a_request_without_an_answer_keeps_back_none_behind_it();
}
