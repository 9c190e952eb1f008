// SPDX-License-Identifier: BSL-1.0
//
// A MoldUDP64 sender and its receiver, and between them a network that drops, doubles and reorders.
#include <exchange/codec/mold_receiver.hpp>
#include <exchange/codec/mold_sender.hpp>

#include <codec/dice.hpp>
#include <codec/packets.hpp>

#include <doctest/doctest.h>

#include <deque>

using namespace exchange;
using namespace exchange::testing;
using namespace std::chrono_literals;

namespace {

struct bad_network {
    dice& random;
    std::deque<bytes> under_way;

    void send(const bytes& datagram) {
        if (random.chance(5)) return;
        under_way.insert(under_way.begin() + static_cast<std::ptrdiff_t>(random.below(
                                                 std::min<std::size_t>(under_way.size(), 6) + 1)),
                         datagram);
        if (random.chance(7)) under_way.push_back(datagram);
    }

    [[nodiscard]] bytes receive() {
        bytes first = std::move(under_way.back());
        under_way.pop_back();
        return first;
    }
};

}  // namespace

TEST_CASE(
    "behind a network that drops, doubles and reorders, every message comes once and in order") {
    const std::uint64_t seed = seed_of_run();
    INFO("EXCHANGE_SEED=", seed);
    dice random{seed};
    for (int round = 0; round < 10; ++round) {
        mold_sender sender{{.session = "S1", .datagram_bytes_max = 120, .message_bytes_max = 98},
                           start};
        mold_receiver_options options;
        options.datagram_bytes_max = 120;
        options.datagrams_held_max = 1 + random.below(8);
        options.requests_max = 1000;
        mold_receiver receiver{options, start};
        bad_network network{random, {}};
        std::uint64_t heard = 0;
        std::uint64_t taken = 0;
        std::uint64_t sent = 0;
        gyre::time_point now = start;
        while (!receiver.ended()) {
            now += 1ms;
            for (; sent < 2000 && !random.chance(4); ++sent) {
                const std::string text = std::to_string(sent + 1);
                std::ranges::copy(bytes_of(text), sender.prepare(text.size()).begin());
                sender.commit(text.size());
            }
            if (sent == 2000) sender.end(now);
            while (const auto datagram = sender.next(now)) network.send(joined(*datagram));
            if (const auto datagram = sender.on_timer(now)) network.send(joined(*datagram));
            if (!network.under_way.empty()) {
                const bytes datagram = network.receive();
                ++taken;
                REQUIRE(receiver.on_packet(datagram, now) == mold_fault::none);
                for (auto next = receiver.next(); next; next = receiver.next()) {
                    REQUIRE(next->sequence == ++heard);
                    REQUIRE(text_of(next->payload) == std::to_string(heard));
                }
            }
            for (auto request = receiver.request(now); request; request = receiver.request(now)) {
                const mold_answer answer = sender.answer(*request);
                REQUIRE(answer.fault == mold_fault::none);
                if (!random.chance(5)) network.send(joined(answer.datagram));
            }
            REQUIRE(now < start + 30s);
        }
        CHECK(heard == 2000);
        // Asking too often would bring more answers than datagrams were lost.
        CHECK(receiver.counts().requests * 2 <= taken);
        CHECK(receiver.counts().duplicates * 5 <= taken);
    }
}

namespace {

/// How many round trips it takes to hear 20,000 messages of which only a heartbeat has told.
std::size_t round_trips(std::size_t requests_outstanding_max) {
    mold_sender sender{{.session = "S1"}, start};
    for (std::uint64_t each = 1; each <= 20000; ++each) {
        const std::string text = std::to_string(each);
        std::ranges::copy(bytes_of(text), sender.prepare(text.size()).begin());
        sender.commit(text.size());
    }
    while (sender.next(start)) {
    }
    mold_receiver_options options;
    options.requests_outstanding_max = requests_outstanding_max;
    mold_receiver receiver{options, start};
    const auto heartbeat = format_mold_header({"S1", 20001, mold_heartbeat});
    REQUIRE(receiver.on_packet(heartbeat, start) == mold_fault::none);
    CHECK_FALSE(receiver.request(start).has_value());
    std::size_t trips = 0;
    for (gyre::time_point now = start + 1ms; !receiver.gap().empty(); now += 10ms, ++trips) {
        std::vector<bytes> answers;
        for (auto next = receiver.request(now); next; next = receiver.request(now))
            answers.push_back(joined(sender.answer(*next).datagram));
        REQUIRE_FALSE(answers.empty());
        CHECK(answers.size() <= requests_outstanding_max);
        for (const bytes& each : answers) {
            REQUIRE(receiver.on_packet(each, now) == mold_fault::none);
            while (receiver.next()) {
            }
        }
    }
    CHECK(receiver.expected() == 20001);
    CHECK(receiver.counts().duplicates == 0);
    CHECK(receiver.counts().dropped == 0);
    return trips;
}

}  // namespace

TEST_CASE(
    "a listener that has missed much catches up by as many datagrams a round trip as it may") {
    CHECK(round_trips(1) >= 80);
    CHECK(round_trips(16) * 6 <= round_trips(1));
}
