// SPDX-License-Identifier: BSL-1.0
//
// What exchange/codec/message_ring.hpp promises, compared with a plain list of strings.
#include <exchange/codec/message_ring.hpp>

#include <codec/dice.hpp>
#include <codec/packets.hpp>

#include <doctest/doctest.h>

#include <deque>

using namespace exchange;
using namespace exchange::testing;

namespace {

constexpr message_ring_options small{.bytes_max = 64,
                                     .messages_max = 8,
                                     .message_bytes_max = 20,
                                     .prefix_bytes = 2,
                                     .first_sequence = 1};

void append(message_ring& ring, std::string_view text) {
    const std::span<std::byte> space = ring.prepare(text.size());
    std::ranges::copy(bytes_of(text), space.begin());
    const std::span<std::byte> framed = ring.commit(text.size());
    framed[0] = framed[1] = std::byte{'.'};
}

}  // namespace

TEST_CASE("a message is found by its number, with its prefix") {
    message_ring ring{small};

    append(ring, "one");
    append(ring, "two");

    CHECK(text_of(ring.framed(1)) == "..one");
    CHECK(text_of(ring.framed(2)) == "..two");
    CHECK(ring.next_sequence() == 3);
    CHECK_FALSE(ring.holds(0));
    CHECK_FALSE(ring.holds(3));
}

TEST_CASE("an empty ring holds nothing, whatever its first number") {
    message_ring_options late = small;
    late.first_sequence = 1'000'000'000'000;
    message_ring ring{late};

    CHECK(ring.first_sequence() == ring.next_sequence());
    CHECK_FALSE(ring.holds(late.first_sequence));
    append(ring, "x");
    CHECK(text_of(ring.framed(late.first_sequence)) == "..x");
}

TEST_CASE("a ring is used to its last byte, and forgets no message that it need not") {
    message_ring ring{{.bytes_max = 30,
                       .messages_max = 8,
                       .message_bytes_max = 8,
                       .prefix_bytes = 2,
                       .first_sequence = 1}};

    for (const char* text : {"message1", "message2", "message3"}) append(ring, text);
    CHECK(ring.first_sequence() == 1);
    append(ring, "message4");

    REQUIRE(ring.first_sequence() == 2);
    CHECK(text_of(ring.framed(2)) == "..message2");
    CHECK(text_of(ring.framed(4)) == "..message4");

    for (const char* text : {"message5", "message6"}) append(ring, text);
    REQUIRE(ring.first_sequence() == 4);
    CHECK(text_of(ring.framed(4)) == "..message4");
    CHECK(text_of(ring.framed(6)) == "..message6");
}

TEST_CASE("the oldest messages make room for new ones by number as well as by size") {
    message_ring ring{small};

    for (int each = 0; each < 9; ++each) append(ring, "ab");  // 4 bytes each: 16 would fit.

    CHECK(ring.first_sequence() == 2);
    append(ring, std::string(20, 'x'));
    append(ring, std::string(20, 'y'));
    append(ring, std::string(20, 'z'));
    CHECK(ring.first_sequence() > 9);
    CHECK(text_of(ring.framed(12)) == ".." + std::string(20, 'z'));
}

TEST_CASE("an evicted message stays evicted when what evicted it is not committed") {
    message_ring ring{small};
    for (int each = 0; each < 3; ++each) append(ring, std::string(18, 'a'));

    static_cast<void>(ring.prepare(20));
    static_cast<void>(ring.prepare(20));

    CHECK(ring.first_sequence() == 3);
    CHECK(text_of(ring.framed(3)) == ".." + std::string(18, 'a'));
}

TEST_CASE("a message may turn out smaller than the room prepared for it") {
    message_ring ring{small};
    const std::span<std::byte> space = ring.prepare(20);
    space[0] = std::byte{'s'};

    const auto framed = ring.commit(1);

    CHECK(framed.size() == 3);
    CHECK(ring.framed(1).size() == 3);
}

TEST_CASE("a run ends at either limit, and is empty if its first message is over one") {
    message_ring ring{small};
    for (const char* each : {"aa", "bb", "cc"}) append(ring, each);

    CHECK(ring.run_from(1, 64, 64).messages == 3);
    CHECK(text_of(ring.run_from(1, 8, 64).bytes) == "..aa..bb");
    CHECK(ring.run_from(1, 11, 64).messages == 2);
    CHECK(ring.run_from(2, 64, 1).messages == 1);
    CHECK(ring.run_from(2, 3, 64).messages == 0);
}

TEST_CASE("a ring agrees with a list, whatever the sizes, through many laps") {
    const std::uint64_t seed = seed_of_run();
    INFO("EXCHANGE_SEED=", seed);
    dice random{seed};
    for (int round = 0; round < 50; ++round) {
        message_ring_options options = small;
        options.bytes_max = 22 + random.below(200);
        options.messages_max = 1 + random.below(30);
        message_ring ring{options};
        std::deque<std::string> list;
        std::uint64_t first = 1;
        for (int each = 0; each < 500; ++each) {
            const std::string text(random.below(21), static_cast<char>('a' + each % 26));
            append(ring, text);
            list.push_back(".." + text);
            for (; first < ring.first_sequence(); ++first) list.pop_front();
            REQUIRE(ring.next_sequence() == first + list.size());

            std::string whole;
            for (std::uint64_t at = first; ring.holds(at);) {
                const message_run run = ring.run_from(at);
                REQUIRE(run.messages > 0);
                whole += text_of(run.bytes);
                at += run.messages;
            }
            std::string expected;
            for (const std::string& one : list) expected += one;
            REQUIRE(whole == expected);
        }
        // It keeps as much as it can: the next message alone would not have needed the room.
        CHECK(list.size() >= std::min<std::size_t>(1, options.messages_max));
    }
}
