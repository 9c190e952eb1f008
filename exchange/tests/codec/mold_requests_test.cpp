// SPDX-License-Identifier: BSL-1.0
//
// What exchange/codec/mold_requests.hpp promises: disjoint, bounded, each with a time of its own.
#include <exchange/codec/mold_requests.hpp>

#include <codec/packets.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace exchange;
using namespace exchange::testing;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t no_limit = 1000;
constexpr std::size_t full_bytes = 1400;

std::string shown(mold_gap what) {
    if (what.empty()) return "";
    return std::to_string(what.first) + '+' + std::to_string(what.size());
}

/// Asks for [first, last) until there is nothing more to ask: "1+16 17+16 ".
std::string asked(mold_requests& requests, std::uint64_t first, std::uint64_t last,
                  gyre::time_point now = start, std::size_t nearer_max = no_limit) {
    std::string all;
    for (;;) {
        const mold_gap next = requests.ask({first, last}, nearer_max, now);
        if (next.empty()) return all;
        all += shown(next) + ' ';
    }
}

}  // namespace

TEST_CASE("a long gap is asked for in pieces, each once, and no more of them than may be") {
    mold_requests requests{{.outstanding_max = 3}};

    CHECK(asked(requests, 1, 100) == "1+16 17+16 33+16 ");
    CHECK(requests.full_before(49));
    CHECK_FALSE(requests.full_before(33));
    requests.arrived({17, 33}, full_bytes);
    CHECK(asked(requests, 1, 17) == "");
    CHECK(asked(requests, 33, 100) ==
          "49+32 ");  // The answer was whole, so it might have been longer.
}

TEST_CASE("a request that nothing can be beside asks for all of the gap") {
    mold_requests requests{{.outstanding_max = 1}};

    CHECK(asked(requests, 1, 100) == "1+99 ");
    requests.arrived({1, 30}, full_bytes);
    CHECK(asked(requests, 30, 100) == "30+70 ");
}

TEST_CASE("what a short answer left out is asked for at once, in pieces of its size") {
    mold_requests requests{{.outstanding_max = 3}};
    CHECK(asked(requests, 1, 100) == "1+16 17+16 33+16 ");

    requests.arrived({1, 11}, full_bytes);

    CHECK(asked(requests, 11, 100) == "11+6 ");  // The others are still under way.
    requests.arrived({11, 17}, full_bytes);
    requests.arrived({17, 27}, full_bytes);
    CHECK(asked(requests, 27, 100) == "27+6 49+10 ");
}

TEST_CASE("a small datagram that is late does not make the pieces small") {
    mold_requests requests{{.outstanding_max = 2}};
    requests.arrived({500, 540}, full_bytes);
    CHECK(asked(requests, 1, 100) == "1+16 17+16 ");

    requests.arrived({1, 2}, 60);

    CHECK(asked(requests, 2, 100) == "2+15 ");
    requests.arrived({2, 33}, full_bytes);
    CHECK(asked(requests, 33, 100) == "33+16 49+16 ");
}

TEST_CASE("pieces grow while answers are whole") {
    mold_requests requests{{.outstanding_max = 2}};
    std::uint64_t next = 1;
    for (int each = 0; each < 200; ++each) {
        const mold_gap piece = requests.ask({next, next + 1'000'000}, no_limit, start);
        REQUIRE_FALSE(piece.empty());
        requests.arrived(piece, full_bytes);
        next = piece.last;
    }
    CHECK(requests.ask({next, next + 1'000'000}, no_limit, start).size() == mold_messages_max);
}

TEST_CASE("each request is made again when its own time runs out") {
    mold_requests requests{{.outstanding_max = 4, .again_after = 50ms}};
    CHECK(asked(requests, 1, 17, start) == "1+16 ");
    CHECK(asked(requests, 17, 20, start + 30ms) == "17+3 ");

    CHECK(requests.deadline() == start + 50ms);
    CHECK(requests.ask_again(start + 49ms).empty());
    CHECK(shown(requests.ask_again(start + 50ms)) == "1+16");
    CHECK(requests.ask_again(start + 50ms).empty());
    CHECK(requests.deadline() == start + 80ms);
    CHECK(shown(requests.ask_again(start + 80ms)) == "17+3");
    CHECK(requests.deadline() == start + 150ms);
}

TEST_CASE("a request in vain waits twice as long as the one before, up to a limit") {
    mold_requests requests{{.again_after = 50ms, .again_after_max = 300ms}};
    CHECK(asked(requests, 1, 4) == "1+3 ");

    gyre::time_point now = start;
    for (const auto wait : {50ms, 100ms, 200ms, 300ms, 300ms}) {
        CHECK(requests.deadline() == now + wait);
        now += wait;
        CHECK(shown(requests.ask_again(now)) == "1+3");
    }
}

TEST_CASE("a listener that gets no answers asks for less at once, and for more with each answer") {
    mold_requests requests{{.outstanding_max = 4, .again_after = 50ms}};
    CHECK(asked(requests, 1, 65) == "1+16 17+16 33+16 49+16 ");

    CHECK(shown(requests.ask_again(start + 50ms)) == "1+16");
    CHECK(shown(requests.ask_again(start + 50ms)) == "17+16");
    CHECK(requests.ask_again(start + 50ms).empty());
    CHECK(requests.deadline() == start + 150ms);
    CHECK(shown(requests.ask_again(start + 1s)) == "1+16");
    CHECK(requests.ask_again(start + 1s).empty());

    requests.arrived({1, 17}, full_bytes);
    CHECK(asked(requests, 65, 100, start + 1s) == "");
    CHECK(shown(requests.ask_again(start + 1s)) == "17+16");
    requests.arrived({17, 33}, full_bytes);
    requests.arrived({33, 49}, full_bytes);
    CHECK(asked(requests, 65, 1000, start + 1s) == "65+32 97+32 ");
}

TEST_CASE("after the last attempt there is none, and what was not answered is hopeless") {
    mold_requests requests{{.outstanding_max = 2, .again_after = 50ms, .attempts_max = 2}};
    CHECK(asked(requests, 1, 17) == "1+16 ");
    CHECK(shown(requests.ask_again(start + 50ms)) == "1+16");
    CHECK_FALSE(requests.hopeless(1));  // The last one has its time, too.

    CHECK(requests.ask_again(start + 150ms).empty());

    CHECK(requests.hopeless(1));
    CHECK(requests.deadline() == gyre::never);
    CHECK(asked(requests, 1, 17, start + 150ms) == "");
    requests.arrived({1, 2}, full_bytes);  // Late, but an answer.
    CHECK_FALSE(requests.hopeless(2));
    CHECK(asked(requests, 2, 17, start + 150ms) == "2+1 3+1 ");
}

TEST_CASE("a request further ahead is not hopeless before its turn") {
    mold_requests requests{{.outstanding_max = 2, .again_after = 50ms, .attempts_max = 1}};
    CHECK(asked(requests, 1, 4, start + 10ms) == "1+3 ");
    CHECK(asked(requests, 9, 12, start) == "9+3 ");

    CHECK(requests.ask_again(start + 50ms).empty());
    CHECK_FALSE(requests.hopeless(1));
    requests.arrived({1, 4}, full_bytes);
    requests.forget_before(9);
    CHECK(requests.hopeless(9));
}

TEST_CASE("what comes in the middle of a request leaves the messages before it under way") {
    mold_requests requests{{.outstanding_max = 8}};
    CHECK(asked(requests, 1, 17) == "1+16 ");

    requests.arrived({5, 8}, full_bytes);

    CHECK(asked(requests, 1, 5) == "");
    CHECK(asked(requests, 8, 17) == "8+9 ");
    CHECK(shown(requests.ask_again(start + 50ms)) == "1+4");
    CHECK(shown(requests.ask_again(start + 50ms)) == "8+9");
}

TEST_CASE("what comes in the middle of a hopeless request gives it all its attempts again") {
    mold_requests requests{{.outstanding_max = 2, .again_after = 50ms, .attempts_max = 2}};
    CHECK(asked(requests, 1, 17) == "1+16 ");
    CHECK(shown(requests.ask_again(start + 50ms)) == "1+16");
    CHECK(requests.ask_again(start + 150ms).empty());
    REQUIRE(requests.hopeless(1));

    requests.arrived({5, 17}, full_bytes);

    CHECK_FALSE(requests.hopeless(1));
    CHECK(shown(requests.ask_again(start + 150ms)) == "1+4");
    CHECK(requests.ask_again(start + 250ms).empty());
    CHECK(requests.hopeless(1));
}

TEST_CASE("one datagram may answer several requests") {
    mold_requests requests{{.outstanding_max = 3}};
    CHECK(asked(requests, 1, 40) == "1+16 17+16 33+7 ");

    requests.arrived({1, 35}, full_bytes);

    CHECK(requests.ask_again(start + 50ms).empty());
    CHECK(asked(requests, 35, 40) == "35+5 ");
}

TEST_CASE("what is not wanted any more is not asked for again") {
    mold_requests requests{{.outstanding_max = 8}};
    CHECK(asked(requests, 1, 40) == "1+16 17+16 33+7 ");

    requests.forget_before(20);

    CHECK(shown(requests.ask_again(start + 50ms)) == "20+13");
    CHECK(shown(requests.ask_again(start + 50ms)) == "33+7");
    requests.forget_before(40);
    CHECK(requests.deadline() == gyre::never);
}

TEST_CASE("there are no more requests for nearer messages than the caller has places for") {
    mold_requests requests{{.outstanding_max = 10}};

    CHECK(asked(requests, 1, 100, start, 2) == "1+16 17+16 33+16 ");
    CHECK(asked(requests, 200, 300, start, 2) == "");
    requests.arrived({1, 17}, full_bytes);
    CHECK(asked(requests, 200, 300, start, 2) == "200+32 ");
}

TEST_CASE("if as many are under way as may be, what is nearer goes before what is further") {
    mold_requests requests{{.outstanding_max = 2}};
    CHECK(asked(requests, 20, 23) == "20+3 ");
    CHECK(asked(requests, 30, 33) == "30+3 ");

    CHECK(asked(requests, 40, 43) == "");
    CHECK(asked(requests, 10, 13) == "10+3 ");
    CHECK(asked(requests, 30, 33) == "");
    CHECK(shown(requests.ask_again(start + 50ms)) == "10+3");
    requests.arrived({10, 13}, full_bytes);
    CHECK(shown(requests.ask_again(start + 50ms)) == "20+3");
    requests.arrived({20, 23}, full_bytes);
    CHECK(asked(requests, 30, 33) == "30+3 ");
}

TEST_CASE("another publisher is asked as if none had failed to answer") {
    mold_requests requests{{.outstanding_max = 2, .again_after = 50ms}};
    CHECK(asked(requests, 1, 100) == "1+16 17+16 ");
    CHECK(shown(requests.ask_again(start + 50ms)) ==
          "1+16");  // In vain: from now on, one at a time.

    requests.forget_all();

    CHECK(requests.deadline() == gyre::never);
    CHECK(asked(requests, 1, 100) == "1+16 17+16 ");
}
