// SPDX-License-Identifier: BSL-1.0
//
// What exchange/codec/mold_receiver.hpp promises, alone and beside a sender behind a bad network.
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

/// A datagram whose messages are their own numbers.
bytes numbers(std::uint64_t first, std::uint16_t count, const mold_session& session = "S1") {
    const auto header = format_mold_header({session, first, count});
    bytes all{header.begin(), header.end()};
    for (std::uint64_t each = first;
         count > 0 && count != mold_end_of_session && each < first + count; ++each) {
        const std::string text = std::to_string(each);
        all.push_back(std::byte{0});
        all.push_back(static_cast<std::byte>(text.size()));
        std::ranges::copy(bytes_of(text), std::back_inserter(all));
    }
    return all;
}

/// Gives a datagram and takes what comes of it; each message must be its own number.
std::string deliver(mold_receiver& receiver, const bytes& datagram, gyre::time_point now = start) {
    REQUIRE(receiver.on_packet(datagram, now) == mold_fault::none);
    std::string all;
    for (auto next = receiver.next(); next; next = receiver.next()) {
        REQUIRE(text_of(next->payload) == std::to_string(next->sequence));
        all += text_of(next->payload) + ' ';
    }
    return all;
}

/// The request that is due, as "first+count".
std::string asked(mold_receiver& receiver, gyre::time_point now) {
    const auto request = receiver.request(now);
    if (!request) return "";
    const mold_packet parsed = parse_mold_request(*request);
    REQUIRE(parsed.fault == mold_fault::none);
    return std::to_string(parsed.header.sequence) + '+' + std::to_string(parsed.header.count);
}

}  // namespace

TEST_CASE("messages in order are delivered at once, doubled ones not again") {
    mold_receiver receiver{{}, start};

    CHECK(deliver(receiver, numbers(1, 3)) == "1 2 3 ");
    CHECK(deliver(receiver, numbers(1, 3)) == "");
    CHECK(deliver(receiver, numbers(2, 4)) == "4 5 ");
    CHECK(receiver.counts().duplicates == 1);
    CHECK(receiver.gap().empty());
    CHECK(asked(receiver, start + 1h) == "");
}

TEST_CASE("what comes ahead of its turn is held and delivered in order") {
    mold_receiver receiver{{}, start};

    CHECK(deliver(receiver, numbers(6, 2)) == "");
    CHECK(deliver(receiver, numbers(3, 2)) == "");
    CHECK(deliver(receiver, numbers(1, 2)) == "1 2 3 4 ");
    CHECK(deliver(receiver, numbers(5, 1)) == "5 6 7 ");
    CHECK(receiver.counts().held == 2);
    CHECK(receiver.gap().empty());
}

TEST_CASE("a gap is asked for after a moment, and again until it is closed") {
    mold_receiver receiver{{}, start};
    static_cast<void>(deliver(receiver, numbers(1, 1)));
    static_cast<void>(deliver(receiver, numbers(5, 1)));

    CHECK(asked(receiver, start) == "");
    CHECK(receiver.deadline() == start + 1ms);
    CHECK(asked(receiver, start + 1ms) == "2+3");
    CHECK(asked(receiver, start + 2ms) == "");
    CHECK(receiver.deadline() == start + 51ms);
    CHECK(asked(receiver, start + 51ms) == "2+3");
    CHECK(deliver(receiver, numbers(2, 2)) == "2 3 ");
    CHECK(asked(receiver, start + 52ms) == "4+1");  // There was progress: no waiting.
    CHECK(deliver(receiver, numbers(4, 1)) == "4 5 ");
    CHECK(asked(receiver, start + 1h) == "");
    CHECK(receiver.counts().requests == 3);
}

TEST_CASE("disorder that rights itself in a moment is not asked about") {
    mold_receiver receiver{{}, start};
    static_cast<void>(deliver(receiver, numbers(2, 1)));
    CHECK(asked(receiver, start) == "");

    static_cast<void>(deliver(receiver, numbers(1, 1)));

    CHECK(asked(receiver, start + 1ms) == "");
    static_cast<void>(deliver(receiver, numbers(4, 1)));
    CHECK(asked(receiver, start + 1ms) == "");  // Another gap has a moment of its own.
    CHECK(asked(receiver, start + 2ms) == "3+1");
}

TEST_CASE("a heartbeat shows that the last messages were lost") {
    mold_receiver receiver{{}, start};
    static_cast<void>(deliver(receiver, numbers(1, 1)));

    static_cast<void>(deliver(receiver, numbers(4, mold_heartbeat)));

    CHECK(receiver.gap().first == 2);
    CHECK(receiver.gap().last == 4);
    CHECK(asked(receiver, start) == "");
    CHECK(asked(receiver, start + 1ms) == "2+2");
}

TEST_CASE("a session has ended when all of it was delivered") {
    mold_receiver receiver{{}, start};
    static_cast<void>(deliver(receiver, numbers(3, mold_end_of_session)));

    CHECK_FALSE(receiver.ended());
    CHECK(deliver(receiver, numbers(1, 2)) == "1 2 ");
    CHECK(receiver.ended());
}

TEST_CASE("a gap that nobody fills is given up when the application says so") {
    mold_receiver_options options;
    options.requests_max = 2;
    mold_receiver receiver{options, start};
    static_cast<void>(deliver(receiver, numbers(3, 1)));
    static_cast<void>(deliver(receiver, numbers(6, 1)));
    gyre::time_point now = start;
    const auto exhaust = [&] {
        for (int each = 0; each < 4; ++each, now += 51ms) static_cast<void>(receiver.request(now));
    };
    static_cast<void>(receiver.request(now));
    CHECK_FALSE(receiver.stuck());

    exhaust();

    CHECK(receiver.stuck());
    CHECK(receiver.counts().requests == 2);
    const mold_gap lost = receiver.give_up();
    CHECK(lost.first == 1);
    CHECK(lost.last == 3);
    CHECK_FALSE(receiver.stuck());
    CHECK(receiver.next()->sequence == 3);
    CHECK_FALSE(receiver.next().has_value());
    CHECK(asked(receiver, now) == "");
    CHECK(asked(receiver, now + 1ms) == "4+2");
    CHECK(receiver.counts().messages_lost == 2);
}

TEST_CASE("a gap that closes step by step may be asked for as often as it takes") {
    mold_receiver_options options;
    options.requests_max = 2;
    mold_receiver receiver{options, start};
    static_cast<void>(deliver(receiver, numbers(9, 1)));
    static_cast<void>(receiver.request(start));

    for (std::uint64_t each = 1; each < 8; ++each) {
        CHECK(asked(receiver, start + 1ms) ==
              std::to_string(each) + '+' + std::to_string(9 - each));
        static_cast<void>(deliver(receiver, numbers(each, 1)));
    }

    CHECK_FALSE(receiver.stuck());
}

TEST_CASE("a datagram that is too long is not held, and is delivered in its turn") {
    mold_receiver_options options;
    options.datagram_bytes_max = mold_header_bytes + 3 * 2;  // Two messages of a digit.
    mold_receiver receiver{options, start};

    CHECK(deliver(receiver, numbers(2, 2)) == "");
    CHECK(deliver(receiver, numbers(4, 3)) == "");

    CHECK(receiver.counts().held == 1);
    CHECK(receiver.counts().dropped == 1);
    CHECK(deliver(receiver, numbers(1, 1)) == "1 2 3 ");
    CHECK(deliver(receiver, numbers(4, 3)) == "4 5 6 ");
}

TEST_CASE("the last request is given its time before a gap counts as hopeless") {
    mold_receiver_options options;
    options.requests_max = 1;
    mold_receiver receiver{options, start};
    static_cast<void>(deliver(receiver, numbers(3, 1)));
    static_cast<void>(receiver.request(start));
    CHECK(asked(receiver, start + 1ms) == "1+2");

    CHECK_FALSE(receiver.stuck());
    static_cast<void>(receiver.request(start + 51ms));
    CHECK(receiver.stuck());
    CHECK(deliver(receiver, numbers(1, 2)) == "1 2 3 ");
    CHECK_FALSE(receiver.stuck());
}

TEST_CASE("a longer datagram is no duplicate of the shorter one that is held") {
    mold_receiver receiver{{}, start};

    CHECK(deliver(receiver, numbers(2, 1)) == "");
    CHECK(deliver(receiver, numbers(2, 3)) == "");

    CHECK(deliver(receiver, numbers(1, 1)) == "1 2 3 4 ");
}

TEST_CASE("of more disorder than can be held, the nearest is kept") {
    mold_receiver_options options;
    options.datagrams_held_max = 2;
    mold_receiver receiver{options, start};
    for (const std::uint64_t first : {8u, 4u, 6u, 9u})
        static_cast<void>(deliver(receiver, numbers(first, 1)));

    CHECK(receiver.counts().dropped == 2);
    CHECK(deliver(receiver, numbers(1, 3)) == "1 2 3 4 ");
    CHECK(deliver(receiver, numbers(5, 1)) == "5 6 ");
    CHECK(receiver.gap().last == 10);
}

TEST_CASE("the first session heard is the session, and others are ignored") {
    mold_receiver receiver{{}, start};
    static_cast<void>(deliver(receiver, numbers(1, 1)));

    CHECK(receiver.session().view() == "S1");
    CHECK(receiver.on_packet(numbers(2, 1, "S2"), start) == mold_fault::other_session);
    CHECK_FALSE(receiver.next().has_value());
    CHECK(receiver.expected() == 2);
}

TEST_CASE("who joins late begins with what comes first") {
    mold_receiver_options options;
    options.first_sequence = 0;
    mold_receiver by_message{options, start};
    mold_receiver by_heartbeat{options, start};

    CHECK(deliver(by_message, numbers(42, 2)) == "42 43 ");
    CHECK(deliver(by_heartbeat, numbers(42, mold_heartbeat)) == "");
    CHECK(by_heartbeat.gap().empty());
    CHECK(deliver(by_heartbeat, numbers(42, 1)) == "42 ");
}

TEST_CASE("a malformed datagram changes nothing") {
    mold_receiver receiver{{}, start};
    bytes torn = numbers(1, 3);
    torn.pop_back();

    CHECK(receiver.on_packet(torn, start + 1s) == mold_fault::message_truncated);

    CHECK_FALSE(receiver.next().has_value());
    CHECK(receiver.gap().empty());
    CHECK(deliver(receiver, numbers(1, 3), start + 1s) == "1 2 3 ");
}

TEST_CASE("fifteen seconds without even a heartbeat are silence") {
    mold_receiver receiver{{}, start};
    static_cast<void>(deliver(receiver, numbers(1, mold_heartbeat), start + 10s));

    CHECK_FALSE(receiver.silent(start + 24s));
    CHECK(receiver.silent(start + 25s));
    CHECK(receiver.deadline() == start + 25s);
}

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
                REQUIRE(receiver.on_packet(datagram, now) == mold_fault::none);
                for (auto next = receiver.next(); next; next = receiver.next()) {
                    REQUIRE(next->sequence == ++heard);
                    REQUIRE(text_of(next->payload) == std::to_string(heard));
                }
            }
            if (const auto request = receiver.request(now)) {
                const mold_answer answer = sender.answer(*request);
                REQUIRE(answer.fault == mold_fault::none);
                if (!random.chance(5)) network.send(joined(answer.datagram));
            }
            REQUIRE(now < start + 30s);
        }
        CHECK(heard == 2000);
    }
}
