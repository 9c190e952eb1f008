// SPDX-License-Identifier: BSL-1.0
//
// What gyre/io/session_list.hpp promises; serve_test.cpp has what a server makes of it.
#include <gyre/io/session_list.hpp>

#include <support/harness.hpp>

#include <deque>
#include <string>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

TEST_CASE("all sessions are counted, and the oldest are told of, with peers and ages") {
    on_every_backend([](io_context& io) -> task<> {
        session_list sessions;
        std::deque<session_list::place> places;
        CHECK(sessions.empty());
        for (std::uint16_t each = 1; each <= 5; ++each) {
            places.emplace_back(sessions, endpoint{ipv4::loopback(), each},
                                io.read_clock() - each * 1min);
        }

        const straggler_report told = sessions.report(io, 2);

        CHECK(told.sessions == 5);
        REQUIRE(told.oldest.size() == 2);
        CHECK(told.oldest[0].peer == endpoint{ipv4::loopback(), 1});
        CHECK(told.oldest[0].age >= 1min);
        CHECK(told.oldest[0].age < 2min);
        CHECK(told.oldest[1].peer == endpoint{ipv4::loopback(), 2});
        CHECK(told.message().starts_with("5 sessions have not ended\n127.0.0.1:1, for 60"));

        places.clear();
        CHECK(sessions.empty());
        CHECK(sessions.report(io, 2).sessions == 0);
        co_return;
    });
}

TEST_CASE("the message of a session has a line for each of its coroutines") {
    session_report one;
    one.peer = {ipv4::loopback(), 9};
    one.age = 1500ms;
    one.waits = "session() at x.cpp:1, 20 ms\n  waiting for read\n";

    CHECK(one.message() ==
          "127.0.0.1:9, for 1500 ms\n  session() at x.cpp:1, 20 ms\n    waiting for read\n");

    straggler_report all;
    all.sessions = 1;
    CHECK(all.message() == "1 session has not ended\n");
}
