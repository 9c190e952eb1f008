// SPDX-License-Identifier: BSL-1.0
//
// What gyre/io/peer_limits.hpp promises to the code that uses it.
#include <gyre/io/peer_limits.hpp>

#include <base/ending.hpp>
#include <gyre/base/check.hpp>
#include <support/harness.hpp>

#include <unistd.h>

#include <csignal>
#include <random>
#include <string>
#include <thread>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

constexpr time_point start{1h};

endpoint at(std::string_view text) { return endpoint::parse(text).value(); }

peer_limit_options at_most(std::uint32_t connections) {
    peer_limit_options made;
    made.connections_max = connections;
    return made;
}

peer_limit_options at_rate(std::uint64_t tokens, duration per, std::uint64_t burst) {
    peer_limit_options made;
    made.accepts = rate_limit{tokens, per, burst};
    return made;
}

endpoint numbered(std::uint32_t number) {
    const ipv4 address{{10, static_cast<std::uint8_t>(number >> 16),
                        static_cast<std::uint8_t>(number >> 8), static_cast<std::uint8_t>(number)}};
    return {address, 1000};
}

}  // namespace

TEST_CASE("a peer has as many connections as it may, and another peer has its own") {
    peer_limits limits{at_most(2)};

    CHECK(limits.admit(at("192.0.2.1:1"), start) == peer_verdict::admitted);
    CHECK(limits.admit(at("192.0.2.1:2"), start) == peer_verdict::admitted);
    CHECK(limits.admit(at("192.0.2.1:3"), start) == peer_verdict::too_many);
    CHECK(limits.admit(at("192.0.2.2:1"), start) == peer_verdict::admitted);
    limits.left(at("192.0.2.1:1"), start);
    CHECK(limits.admit(at("192.0.2.1:4"), start) == peer_verdict::admitted);
    CHECK(limits.admit(at("192.0.2.1:5"), start) == peer_verdict::too_many);
}

TEST_CASE("a host is one peer in all of its IPv6 network, and whether IPv4 is mapped or not") {
    peer_limits limits{at_most(1)};

    CHECK(limits.admit(at("[2001:db8::1]:1"), start) == peer_verdict::admitted);
    CHECK(limits.admit(at("[2001:db8::ffff:1]:1"), start) == peer_verdict::too_many);
    CHECK(limits.admit(at("[2001:db8:0:1::1]:1"), start) == peer_verdict::admitted);
    CHECK(limits.admit(at("192.0.2.1:1"), start) == peer_verdict::admitted);
    CHECK(limits.admit(at("[::ffff:192.0.2.1]:1"), start) == peer_verdict::too_many);
}

TEST_CASE("how many bits tell peers apart is the program's choice") {
    peer_limit_options options = at_most(1);
    options.v4_bits = 24;
    options.v6_bits = 128;
    peer_limits limits{options};

    CHECK(limits.admit(at("192.0.2.1:1"), start) == peer_verdict::admitted);
    CHECK(limits.admit(at("192.0.2.200:1"), start) == peer_verdict::too_many);
    CHECK(limits.admit(at("192.0.3.1:1"), start) == peer_verdict::admitted);
    CHECK(limits.admit(at("[2001:db8::1]:1"), start) == peer_verdict::admitted);
    CHECK(limits.admit(at("[2001:db8::2]:1"), start) == peer_verdict::admitted);
}

TEST_CASE("a peer that comes too often is refused until its bucket has filled again") {
    peer_limits limits{at_rate(1, 1s, 2)};
    const endpoint peer = at("192.0.2.1:1");

    CHECK(limits.admit(peer, start) == peer_verdict::admitted);
    limits.left(peer, start);
    CHECK(limits.admit(peer, start) == peer_verdict::admitted);
    limits.left(peer, start);
    CHECK(limits.admit(peer, start + 999ms) == peer_verdict::too_often);
    CHECK(limits.admit(at("192.0.2.2:1"), start + 999ms) == peer_verdict::admitted);
    CHECK(limits.admit(peer, start + 1s) == peer_verdict::admitted);
    CHECK(limits.admit(peer, start + 1s) == peer_verdict::too_often);
}

TEST_CASE("peers without an address are not limited") {
    peer_limit_options options = at_most(1);
    options.accepts = rate_limit{1, 1h, 1};
    peer_limits limits{options};

    for (int each = 0; each < 10; ++each) {
        CHECK(limits.admit(endpoint{}, start) == peer_verdict::admitted);
        CHECK(limits.admit(at("unix:@peer"), start) == peer_verdict::admitted);
    }
    limits.left(at("unix:@peer"), start);
    CHECK(limits.peers() == 0);
}

TEST_CASE("peers may be told apart by a number of the program's own") {
    peer_limit_options options = at_most(1);
    options.accepts = rate_limit{1, 1s, 2};
    peer_limits limits{options};
    constexpr std::uint64_t user = 1000;

    CHECK(limits.admit(user, start) == peer_verdict::admitted);
    CHECK(limits.admit(user, start) == peer_verdict::too_many);
    CHECK(limits.admit(user + 1, start) == peer_verdict::admitted);
    CHECK(limits.admit(at("0.0.3.232:1"), start) == peer_verdict::admitted);  // The same bits.
    CHECK(limits.peers() == 3);
    limits.left(user, start);
    CHECK(limits.admit(user, start) == peer_verdict::admitted);
    limits.left(user, start);
    CHECK(limits.admit(user, start) == peer_verdict::too_often);
    CHECK(limits.admit(user, start + 1s) == peer_verdict::admitted);
}

TEST_CASE("a peer of which there is nothing to remember is forgotten") {
    peer_limits by_number{at_most(1)};
    CHECK(by_number.admit(numbered(1), start) == peer_verdict::admitted);
    CHECK(by_number.peers() == 1);
    by_number.left(numbered(1), start);
    CHECK(by_number.peers() == 0);

    peer_limits by_rate{at_rate(1, 1s, 1)};
    for (std::uint32_t each = 0; each < 100; ++each) {
        CHECK(by_rate.admit(numbered(each), start) == peer_verdict::admitted);
        by_rate.left(numbered(each), start);
    }
    CHECK(by_rate.peers() == 100);
    for (std::uint32_t each = 200; each < 300; ++each) {
        CHECK(by_rate.admit(numbered(each), start + 1h) == peer_verdict::admitted);
    }
    CHECK(by_rate.peers() == 100);
}

TEST_CASE("however many addresses come, the table keeps its size, and those that are connected") {
    peer_limit_options options = at_rate(1, 1h, 1);
    options.connections_max = 1;
    options.peers_max = 100;
    peer_limits limits{options};
    for (std::uint32_t each = 0; each < 10; ++each) {
        CHECK(limits.admit(numbered(each), start) == peer_verdict::admitted);
    }
    for (std::uint32_t each = 1000; each < 101'000; ++each) {
        REQUIRE(limits.admit(numbered(each), start) == peer_verdict::admitted);
        limits.left(numbered(each), start);
    }
    CHECK(limits.peers() == 100);
    for (std::uint32_t each = 0; each < 10; ++each) {
        CHECK(limits.admit(numbered(each), start) == peer_verdict::too_many);
    }
    // The latest are remembered, the others begin anew.
    CHECK(limits.admit(numbered(100'999), start) == peer_verdict::too_often);
    CHECK(limits.admit(numbered(1000), start) == peer_verdict::admitted);
}

TEST_CASE("a full table of connected peers admits no other, and those it has as before") {
    peer_limit_options options = at_most(2);
    options.peers_max = 3;
    peer_limits limits{options};
    for (std::uint32_t each = 0; each < 3; ++each) {
        CHECK(limits.admit(numbered(each), start) == peer_verdict::admitted);
    }
    CHECK(limits.admit(numbered(3), start) == peer_verdict::too_often);
    CHECK(limits.admit(numbered(0), start) == peer_verdict::admitted);
    limits.left(numbered(1), start);
    CHECK(limits.admit(numbered(3), start) == peer_verdict::admitted);
}

TEST_CASE("several threads share one table without losing count") {
    peer_limits limits{at_most(1000)};
    std::vector<std::thread> threads;
    for (unsigned thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&limits, thread] {
            std::mt19937 random{thread};
            std::vector<std::uint32_t> held;
            for (int round = 0; round < 5000; ++round) {
                if (!held.empty() && random() % 2 == 0) {
                    limits.left(numbered(held.back()), start);
                    held.pop_back();
                } else {
                    const auto number = static_cast<std::uint32_t>(random() % 8);
                    if (limits.admit(numbered(number), start) == peer_verdict::admitted) {
                        held.push_back(number);
                    }
                }
            }
            for (const std::uint32_t each : held) limits.left(numbered(each), start);
        });
    }
    for (std::thread& each : threads) each.join();
    CHECK(limits.peers() == 0);
}

TEST_CASE("a check that fails in a table of peers calls its hook without the lock") {
    static peer_limits limits{at_most(1)};
    const ending how = ending_of([] {
        ::alarm(20);  // Under the lock the hook would wait for ever.
        set_check_hook([](const check_failure&) noexcept { static_cast<void>(limits.peers()); });
        limits.left(numbered(1), start);
    });

    CHECK(how.signal == SIGABRT);
    CHECK(how.said_that("a connection that ends was admitted"));
}
