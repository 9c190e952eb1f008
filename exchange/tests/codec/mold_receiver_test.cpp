// SPDX-License-Identifier: BSL-1.0
//
// What exchange/codec/mold_receiver.hpp promises, datagram by datagram; mold_recovery_test.cpp puts a
// sender and a bad network beside it.
#include <exchange/codec/mold_receiver.hpp>

#include <codec/packets.hpp>

#include <doctest/doctest.h>

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

/// All requests that are due, as "first+count first+count ".
std::string asked_all(mold_receiver& receiver, gyre::time_point now) {
    std::string all;
    for (std::string next = asked(receiver, now); !next.empty(); next = asked(receiver, now))
        all += next + ' ';
    return all;
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

    CHECK(receiver.deadline() == gyre::never);
    CHECK(asked(receiver, start + 1ms) == "");
    static_cast<void>(deliver(receiver, numbers(4, 1), start + 1ms));
    CHECK(asked(receiver, start + 1ms) == "");  // Another gap has a moment of its own.
    CHECK(asked(receiver, start + 2ms) == "3+1");
}

TEST_CASE("all gaps are asked for at once, each a moment after it was noticed") {
    mold_receiver receiver{{}, start};
    static_cast<void>(deliver(receiver, numbers(3, 1)));
    static_cast<void>(deliver(receiver, numbers(6, 1)));
    static_cast<void>(deliver(receiver, numbers(9, mold_heartbeat), start + 500us));

    CHECK(asked_all(receiver, start + 1ms) == "1+2 4+2 ");
    CHECK(receiver.deadline() == start + 1500us);
    CHECK(asked_all(receiver, start + 1500us) == "7+2 ");
    CHECK(asked_all(receiver, start + 50ms) == "");
    CHECK(asked_all(receiver, start + 51ms) == "1+2 4+2 ");
    CHECK(deliver(receiver, numbers(4, 2)) == "");
    CHECK(deliver(receiver, numbers(1, 2)) == "1 2 3 4 5 6 ");
    CHECK(asked_all(receiver, start + 1h) == "7+2 ");
}

TEST_CASE("what splits a gap does not make it newer") {
    mold_receiver receiver{{}, start};
    static_cast<void>(deliver(receiver, numbers(20, mold_heartbeat)));
    static_cast<void>(deliver(receiver, numbers(9, 1), start + 1ms));
    CHECK(asked_all(receiver, start + 1ms) == "1+8 10+10 ");
    static_cast<void>(deliver(receiver, numbers(30, 1), start + 10ms));
    static_cast<void>(deliver(receiver, numbers(25, 1), start + 11ms));
    CHECK(asked_all(receiver, start + 11ms) == "20+5 26+4 ");
}

TEST_CASE("answers may come in any order, twice, or not at all") {
    mold_receiver receiver{{}, start};
    static_cast<void>(deliver(receiver, numbers(65, mold_heartbeat)));
    CHECK(asked_all(receiver, start + 1ms) == "1+16 17+16 33+16 49+16 ");

    CHECK(deliver(receiver, numbers(49, 16)) == "");
    CHECK(deliver(receiver, numbers(17, 16)) == "");
    CHECK(deliver(receiver, numbers(17, 16)) == "");
    CHECK(receiver.counts().duplicates == 1);
    CHECK(asked_all(receiver, start + 2ms) == "");
    CHECK(asked_all(receiver, start + 51ms) ==
          "1+16 33+16 ");  // Those that were lost, and no other.
    CHECK(deliver(receiver, numbers(33, 16)) == "");
    CHECK(deliver(receiver, numbers(1, 16)).ends_with(" 63 64 "));
    CHECK(asked_all(receiver, start + 1h) == "");
    CHECK(receiver.counts().requests == 6);
}

TEST_CASE("nothing is asked for that there would be no room for") {
    mold_receiver_options options;
    options.datagrams_held_max = 2;
    mold_receiver receiver{options, start};
    static_cast<void>(deliver(receiver, numbers(200, mold_heartbeat)));

    CHECK(asked_all(receiver, start + 1ms) == "1+16 17+16 33+16 ");
    CHECK(deliver(receiver, numbers(33, 16)) == "");
    CHECK(asked_all(receiver, start + 2ms) == "");
    CHECK(deliver(receiver, numbers(17, 16)) == "");
    CHECK(asked_all(receiver, start + 2ms) == "");
    CHECK(deliver(receiver, numbers(1, 16)).ends_with(" 47 48 "));
    CHECK(asked_all(receiver, start + 2ms) == "49+32 81+32 113+32 ");
    CHECK(receiver.counts().dropped == 0);
}

TEST_CASE("what had to make room for something nearer is asked for again") {
    mold_receiver_options options;
    options.datagrams_held_max = 1;
    mold_receiver receiver{options, start};
    static_cast<void>(deliver(receiver, numbers(7, 2)));
    CHECK(asked_all(receiver, start + 1ms) == "1+6 ");

    static_cast<void>(deliver(receiver, numbers(3, 2), start + 1ms));

    CHECK(receiver.counts().dropped == 1);
    CHECK(asked_all(receiver, start + 2ms) == "");  // There is no room for it.
    CHECK(deliver(receiver, numbers(1, 2), start + 2ms) == "1 2 3 4 ");
    static_cast<void>(deliver(receiver, numbers(9, mold_heartbeat), start + 2500us));
    CHECK(asked_all(receiver, start + 3ms) == "5+4 ");
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

TEST_CASE("a gap that is never filled is given up when the application says so") {
    mold_receiver_options options;
    options.requests_max = 2;
    options.requests_outstanding_max = 1;
    mold_receiver receiver{options, start};
    static_cast<void>(deliver(receiver, numbers(3, 1)));
    static_cast<void>(deliver(receiver, numbers(6, 1)));
    gyre::time_point now = start;
    const auto exhaust = [&] {
        for (int each = 0; each < 6; ++each, now += 51ms) static_cast<void>(receiver.request(now));
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
    CHECK(asked(receiver, now) == "4+2");  // It has been missing for long enough.
    CHECK(receiver.counts().messages_lost == 2);
}

TEST_CASE("one datagram that tells of messages far ahead costs requests, and no message") {
    mold_receiver_options options;
    options.requests_max = 2;
    mold_receiver receiver{options, start};
    static_cast<void>(deliver(receiver, numbers(1, 2)));
    static_cast<void>(deliver(receiver, numbers(std::uint64_t{1} << 63, 0)));
    gyre::time_point now = start;
    static_cast<void>(deliver(receiver, numbers(3, 0)));
    for (int each = 0; each < 6; ++each, now += 51ms) static_cast<void>(receiver.request(now));
    REQUIRE(receiver.stuck());

    CHECK(receiver.give_up().empty());

    CHECK_FALSE(receiver.stuck());
    CHECK(receiver.expected() == 3);
    CHECK(deliver(receiver, numbers(3, 1)) == "3 ");
    CHECK(receiver.counts().messages_lost == 0);
    CHECK(receiver.gap().empty());
}

TEST_CASE("a gap that closes step by step may be asked for as often as it takes") {
    mold_receiver_options options;
    options.requests_max = 2;
    options.requests_outstanding_max = 1;
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
    CHECK(receiver.counts().other_sessions == 1);
}

namespace {

constexpr auto silence = mold_receiver_options{}.new_life_after;
constexpr auto death = mold_receiver_options{}.dead_after;

/// Gives a datagram of another session, which is not to be believed.
void check_ignored(mold_receiver& receiver, const bytes& datagram, gyre::time_point now) {
    const std::uint64_t expected = receiver.expected();
    CHECK(receiver.on_packet(datagram, now) == mold_fault::other_session);
    CHECK_FALSE(receiver.next().has_value());
    CHECK(receiver.expected() == expected);
    CHECK(receiver.counts().new_lives == 0);
}

}  // namespace

TEST_CASE("a later session that speaks when the present one is silent is a new life, from 1 on") {
    mold_receiver receiver{{}, start};
    static_cast<void>(deliver(receiver, numbers(1, 9)));

    CHECK(deliver(receiver, numbers(1, 3, "S2"), start + silence) == "1 2 3 ");

    CHECK(receiver.session().view() == "S2");
    CHECK(receiver.counts().new_lives == 1);
    CHECK(receiver.counts().duplicates == 0);
    CHECK(deliver(receiver, numbers(4, 2, "S2"), start + silence) == "4 5 ");
    CHECK_FALSE(receiver.silent(start + silence + death - 1ns));
}

TEST_CASE("beside a session that is heard, no other one is believed, however often it speaks") {
    mold_receiver receiver{{}, start};
    gyre::time_point now = start;
    for (std::uint64_t each = 1; each <= 100; ++each, now += silence - 1ns) {
        static_cast<void>(deliver(receiver, numbers(each, mold_heartbeat), now));
        check_ignored(receiver, numbers(each, 1, "S2"), now);
        check_ignored(receiver, numbers(each, 1, "S2"), now + silence - 1ns);
    }
    CHECK(receiver.counts().other_sessions == 200);
}

TEST_CASE("behind the end of the present session the next one need not wait") {
    mold_receiver receiver{{}, start};
    static_cast<void>(deliver(receiver, numbers(1, 2)));
    check_ignored(receiver, numbers(1, 1, "S2"), start);
    static_cast<void>(deliver(receiver, numbers(3, mold_end_of_session)));
    CHECK(receiver.ended());

    CHECK(deliver(receiver, numbers(1, 1, "S2")) == "1 ");

    CHECK_FALSE(receiver.ended());
    static_cast<void>(deliver(receiver, numbers(2, mold_end_of_session, "S2")));
    CHECK(receiver.ended());
}

TEST_CASE("an end that was told before all of it was here leaves nothing to wait for, either") {
    mold_receiver receiver{{}, start};
    static_cast<void>(deliver(receiver, numbers(9, mold_end_of_session)));
    CHECK(asked(receiver, start + 1ms) == "1+8");

    CHECK(deliver(receiver, numbers(1, 1, "S2"), start + 2ms) == "1 ");

    CHECK(receiver.gap().empty());
    CHECK(asked_all(receiver, start + 1h) == "");
}

TEST_CASE("a new life has none of what was held and asked for in the old one") {
    mold_receiver_options options;
    options.datagrams_held_max = 3;
    options.requests_max = 1;
    mold_receiver receiver{options, start};
    static_cast<void>(deliver(receiver, numbers(1, 1)));
    for (const std::uint64_t each : {3U, 5U, 7U})
        static_cast<void>(deliver(receiver, numbers(each, 1)));
    CHECK(asked_all(receiver, start + 1ms) == "2+1 4+1 ");
    CHECK(asked_all(receiver, start + 1s) == "");
    CHECK(receiver.stuck());

    const gyre::time_point later = start + silence;
    CHECK(deliver(receiver, numbers(2, 1, "S2"), later) == "");

    CHECK_FALSE(receiver.stuck());
    CHECK(asked_all(receiver, later + 1ms) == "1+1 ");
    for (const std::uint64_t each : {4U, 6U})  // There is room for as many as ever.
        static_cast<void>(deliver(receiver, numbers(each, 1, "S2"), later));
    CHECK(receiver.counts().dropped == 0);
    CHECK(deliver(receiver, numbers(1, 1, "S2"), later) == "1 2 ");
    CHECK(deliver(receiver, numbers(3, 1, "S2"), later) == "3 4 ");
}

TEST_CASE("what a new life has told before it was believed is asked for, under its name") {
    mold_receiver receiver{{}, start};
    static_cast<void>(deliver(receiver, numbers(1, 1)));
    check_ignored(receiver, numbers(1, 5, "S2"), start + silence - 1ms);

    static_cast<void>(deliver(receiver, numbers(6, mold_heartbeat, "S2"), start + silence));

    const auto request = receiver.request(start + silence + 1ms);
    REQUIRE(request.has_value());
    const mold_header wanted = parse_mold_request(*request).header;
    CHECK(wanted.session.view() == "S2");
    CHECK(wanted.sequence == 1);
    CHECK(wanted.count == 5);
}

TEST_CASE("a receiver that wants no history begins a new life with what comes first") {
    mold_receiver_options options;
    options.new_life_sequence = 0;
    mold_receiver receiver{options, start};
    static_cast<void>(deliver(receiver, numbers(1, 1)));

    CHECK(deliver(receiver, numbers(70, 2, "S2"), start + silence) == "70 71 ");
}

TEST_CASE("what is late of an earlier life is ignored, unless the present one is dead") {
    mold_receiver receiver{{.session = "S2"}, start};
    static_cast<void>(deliver(receiver, numbers(1, 1, "S2")));
    static_cast<void>(deliver(receiver, numbers(2, mold_end_of_session, "S2")));
    check_ignored(receiver, numbers(2, 1, "S1"), start);
    check_ignored(receiver, numbers(2, 1, "S1"), start + silence);
    check_ignored(receiver, numbers(2, 1, "S1"), start + death - 1ns);

    CHECK(deliver(receiver, numbers(1, 1, "S1"), start + death) == "1 ");
    CHECK(receiver.session().view() == "S1");
}

TEST_CASE("a session without a name cannot be told from others, and is none") {
    mold_receiver receiver{{}, start};

    check_ignored(receiver, numbers(1, 1, ""), start);
    CHECK(deliver(receiver, numbers(1, 1)) == "1 ");
    check_ignored(receiver, numbers(2, 1, ""), start + silence);
}

TEST_CASE("a listener that joins late begins with what comes first") {
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
    CHECK(receiver.silent_at() == start + 25s);
    CHECK(receiver.deadline() == gyre::never);
}

TEST_CASE("what was asked for in vain in the old life is asked for anew in the new one") {
    mold_receiver_options options;
    options.requests_max = 1;
    mold_receiver receiver{options, start};
    static_cast<void>(deliver(receiver, numbers(1, 1)));
    static_cast<void>(deliver(receiver, numbers(3, 1)));
    CHECK(asked_all(receiver, start + 1ms) == "2+1 ");
    CHECK(asked_all(receiver, start + 1s) == "");

    const gyre::time_point later = start + silence;
    CHECK(deliver(receiver, numbers(1, 1, "S2"), later) == "1 ");
    CHECK(deliver(receiver, numbers(3, 1, "S2"), later) == "");

    CHECK(asked_all(receiver, later + 1ms) == "2+1 ");
    CHECK_FALSE(receiver.stuck());
}
