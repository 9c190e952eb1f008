// SPDX-License-Identifier: BSL-1.0
//
// What gyre/http/waiting_connections.hpp promises: who makes room, and when.
#include <gyre/http/waiting_connections.hpp>

#include <doctest/doctest.h>

#include <chrono>

using namespace gyre;
using http::waiting_connections;
using namespace std::chrono_literals;

namespace {

constexpr time_point start{1h};

// Asks until `end`, as a server does that waits for room.
void ask(waiting_connections& all, time_point end) {
    for (time_point now = start; now < end;) {
        const duration again = all.make_room(now);
        REQUIRE(again > 0s);
        now += again;
    }
}

}  // namespace

TEST_CASE("the connection that has waited longest makes room, and each is asked once") {
    waiting_connections all;
    stop_chain first;
    stop_chain second;
    waiting_connections::place one{&all};
    waiting_connections::place two{&all};
    one.wait_for_request(first, start);
    two.wait_for_request(second, start);
    one.end_wait();
    one.wait_for_request(first, start);  // Now the second has waited longer.
    static_cast<void>(all.make_room(start + 1s));
    CHECK(second.level() == stop_level::drain);
    CHECK(first.level() == stop_level::none);
    static_cast<void>(all.make_room(start + 1s));
    CHECK(first.level() == stop_level::drain);
}

TEST_CASE("each has the time in which a request can be there") {
    waiting_connections all;
    stop_chain chain;
    waiting_connections::place fresh{&all};
    fresh.wait_for_request(chain, start);
    ask(all, start + waiting_connections::request_time_min);
    CHECK(chain.level() == stop_level::none);
    ask(all, start + 2 * waiting_connections::request_time_min);
    CHECK(chain.level() == stop_level::drain);
}

TEST_CASE("a connection is asked by what ends its wait") {
    waiting_connections all;
    stop_chain asked_before;
    stop_chain fresh;
    waiting_connections::place one{&all};
    waiting_connections::place two{&all};
    one.wait_for_request(asked_before, start);
    two.wait_for_request(fresh, start, stop_level::stop);
    ask(all, start + 1s);
    CHECK(asked_before.level() == stop_level::drain);
    CHECK(fresh.level() == stop_level::stop);
}

TEST_CASE("a head has its time from its first byte on, however its bytes are spread") {
    waiting_connections all;
    stop_chain idle;
    stop_chain head;
    waiting_connections::place slow{&all};
    waiting_connections::place silent{&all};
    slow.wait_for_request(head, start);
    slow.wait_for_head(head, start + 50ms);
    slow.wait_for_head(head, start + 900ms);
    silent.wait_for_request(idle, start + 960ms);
    static_cast<void>(all.make_room(start + 1049ms));
    CHECK(head.level() == stop_level::none);
    static_cast<void>(all.make_room(start + 1055ms));
    CHECK(head.level() == stop_level::stop);
    CHECK(idle.level() == stop_level::none);
}

TEST_CASE("a connection that is busy, gone or in no list makes no room") {
    waiting_connections all;
    stop_chain chain;
    {
        waiting_connections::place gone{&all};
        gone.wait_for_request(chain, start);
    }
    waiting_connections::place busy{&all};
    busy.wait_for_head(chain, start);
    busy.end_wait();
    waiting_connections::place alone{nullptr};
    alone.wait_for_request(chain, start);
    ask(all, start + 10s);
    CHECK(chain.level() == stop_level::none);
    alone.end_wait();
}
