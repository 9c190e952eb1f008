// SPDX-License-Identifier: BSL-1.0
//
// What gyre/stream/flat_buffer.hpp promises: the content in one piece, memory by what is used, a bound.
#include <gyre/stream/flat_buffer.hpp>

#include <support/harness.hpp>

#include <cstring>
#include <random>
#include <string>
#include <utility>

using namespace gyre;
using namespace gyre::testing;

TEST_CASE("what is committed behind is consumed in front") {
    flat_buffer buffer{8};

    const mutable_buffer room = buffer.prepare(3);
    std::memcpy(room.data(), "abcd", 4);
    buffer.commit(4);
    buffer.append(bytes_of("ef"));
    buffer.consume(1);

    CHECK(room.size() == 8);
    CHECK(text_of(buffer.data()) == "bcdef");
    CHECK(buffer.size() == 5);
    buffer.consume(5);
    CHECK(buffer.empty());
}

TEST_CASE("a buffer takes no more memory than was asked for until its content needs more") {
    flat_buffer buffer{buffer_bounds{4, 64}};
    CHECK(buffer.capacity() == 4);

    buffer.append(bytes_of("abcd"));
    CHECK(buffer.capacity() == 4);
    CHECK(buffer.prepare(1).size() == 4);
    CHECK(buffer.capacity() == 8);
    CHECK(text_of(buffer.data()) == "abcd");

    CHECK(buffer.prepare(20).size() == 20);
    CHECK(buffer.capacity() == 24);
    CHECK(buffer.max_size() == 64);
}

TEST_CASE("a buffer that begins with nothing grows from nothing") {
    flat_buffer buffer{buffer_bounds{0, 3}};
    CHECK(buffer.capacity() == 0);

    buffer.append(bytes_of("a"));
    buffer.append(bytes_of("bc"));

    CHECK(text_of(buffer.data()) == "abc");
    CHECK(buffer.capacity() == 3);
}

TEST_CASE("at the bound there is only the room that is left, and then none") {
    flat_buffer buffer{buffer_bounds{2, 5}};

    buffer.append(bytes_of("abc"));
    CHECK(buffer.prepare(100).size() == 2);
    buffer.append(bytes_of("de"));

    CHECK(buffer.prepare(1).empty());
    CHECK(buffer.capacity() == 5);
    CHECK(text_of(buffer.data()) == "abcde");
}

TEST_CASE("room in front is used again before memory is taken") {
    flat_buffer buffer{buffer_bounds{8, 64}};
    buffer.append(bytes_of("12345678"));
    buffer.consume(5);

    const mutable_buffer room = buffer.prepare(5);

    CHECK(room.size() == 5);
    CHECK(buffer.capacity() == 8);
    CHECK(text_of(buffer.data()) == "678");
}

TEST_CASE("consumed bytes stay where they are until there must be room") {
    flat_buffer buffer{8};
    buffer.append(bytes_of("abcdef"));
    const const_buffer first = buffer.data().first(3);

    buffer.consume(3);
    CHECK(text_of(first) == "abc");
    buffer.consume(3);
    CHECK(text_of(first) == "abc");
}

TEST_CASE("what is dropped behind was never committed") {
    flat_buffer buffer{{8, 8}};
    buffer.append(bytes_of("kept, no"));

    buffer.drop_back(4);

    CHECK(text_of(buffer.data()) == "kept");
    CHECK(buffer.prepare(4).size() == 4);
    buffer.drop_back(4);
    CHECK(buffer.empty());
}

TEST_CASE("memory is given back when asked for, and the content stays") {
    flat_buffer buffer{buffer_bounds{0, 1024}};
    buffer.append(bytes_of(std::string(500, 'x')));
    buffer.consume(497);

    buffer.shrink_to_fit();
    CHECK(buffer.capacity() == 3);
    CHECK(text_of(buffer.data()) == "xxx");
    buffer.consume(3);
    buffer.shrink_to_fit();
    CHECK(buffer.capacity() == 0);
    buffer.append(bytes_of("y"));
    CHECK(text_of(buffer.data()) == "y");
}

TEST_CASE("a buffer moves with its content, and what is left grows again") {
    flat_buffer one{buffer_bounds{4, 8}};
    flat_buffer other{2};
    one.append(bytes_of("ab"));

    flat_buffer moved{std::move(one)};
    other = std::move(moved);
    one.append(bytes_of("cd"));  // NOLINT(bugprone-use-after-move): empty, as is promised.

    CHECK(text_of(other.data()) == "ab");
    CHECK(other.max_size() == 8);
    CHECK(text_of(one.data()) == "cd");
}

TEST_CASE("whatever is added and consumed, the content is what a string says") {
    const unsigned seed = std::random_device{}();
    CAPTURE(seed);
    std::mt19937 random{seed};
    flat_buffer buffer{buffer_bounds{3, 100}};
    std::string expected;

    for (int step = 0; step < 20'000; ++step) {
        const std::string piece(std::min<std::size_t>(random() % 40, 100 - expected.size()),
                                static_cast<char>('a' + random() % 26));
        buffer.append(bytes_of(piece));
        expected += piece;
        const std::size_t dropped = random() % (expected.size() + 1);
        buffer.consume(dropped);
        expected.erase(0, dropped);
        if (random() % 64 == 0) buffer.shrink_to_fit();

        REQUIRE(text_of(buffer.data()) == expected);
        REQUIRE(buffer.capacity() <= 100);
    }
}
