// SPDX-License-Identifier: BSL-1.0
//
// What exchange/codec/soup_connection.hpp promises: its timers to the millisecond, and that what is
// being written does not move.
#include <exchange/codec/soup_connection.hpp>

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

TEST_CASE("what was offered stays where it is while more is pushed, and until all of it was sent") {
    soup_outbox outbox{64};
    REQUIRE(outbox.push(soup_type::unsequenced, bytes_of("first")));
    const auto offered = outbox.offer();

    REQUIRE(outbox.push(soup_type::client_heartbeat));
    CHECK(outbox.offer().data() == offered.data());
    CHECK(packets_of(offered) == std::vector<std::string>{"Ufirst"});

    outbox.sent(3);
    CHECK(outbox.offer().data() == offered.data() + 3);
    outbox.sent(5);
    CHECK(packets_of(outbox.offer()) == std::vector<std::string>{"R"});
    outbox.sent(3);
    CHECK(outbox.empty());
}

TEST_CASE("a packet that does not fit changes nothing") {
    soup_outbox outbox{8};

    CHECK(outbox.push(soup_type::unsequenced, bytes_of("12345")));
    CHECK_FALSE(outbox.push(soup_type::client_heartbeat));
    CHECK(packets_of(outbox.offer()) == std::vector<std::string>{"U12345"});
    CHECK(outbox.push(soup_type::unsequenced, bytes_of("54321")));  // The other half is free.
    CHECK_FALSE(outbox.push(soup_type::unsequenced, bytes(0x10000)));
}

TEST_CASE("a cleared outbox offers nothing") {
    soup_outbox outbox{64};
    outbox.push(soup_type::client_heartbeat);
    static_cast<void>(outbox.offer());
    outbox.push(soup_type::client_heartbeat);

    outbox.clear();

    CHECK(outbox.empty());
    CHECK(outbox.offer().empty());
}
