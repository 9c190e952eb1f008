// SPDX-License-Identifier: BSL-1.0
//
// What exchange/codec/soup_liveness.hpp promises, to the millisecond.
#include <exchange/codec/soup_liveness.hpp>

#include <codec/packets.hpp>

#include <doctest/doctest.h>

using namespace exchange;
using namespace exchange::testing;
using namespace std::chrono_literals;

TEST_CASE(
    "a heartbeat is due a second after the last sending, death fifteen after the last hearing") {
    soup_liveness liveness{{}, start};

    CHECK(liveness.deadline() == start + 1s);
    CHECK_FALSE(liveness.heartbeat_due(start + 999ms));
    CHECK(liveness.heartbeat_due(start + 1s));
    liveness.sent(start + 14500ms);
    CHECK(liveness.deadline() == start + 15s);
    CHECK_FALSE(liveness.peer_is_dead(start + 14999ms));
    CHECK(liveness.peer_is_dead(start + 15s));
    liveness.heard(start + 14s);
    CHECK_FALSE(liveness.peer_is_dead(start + 28999ms));
}
