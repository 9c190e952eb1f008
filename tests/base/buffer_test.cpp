// SPDX-License-Identifier: BSL-1.0
//
// What gyre/base/buffer.hpp promises: views of bytes that the caller owns.
#include <gyre/base/buffer.hpp>

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <type_traits>
#include <vector>

using namespace gyre;

TEST_CASE("text goes through a buffer and back, zero bytes included") {
    const std::string text{"ab\0c", 4};

    const const_buffer bytes = bytes_of(text);

    CHECK(bytes.size() == 4);
    CHECK(static_cast<const void*>(bytes.data()) == text.data());
    CHECK(text_of(bytes) == text);
}

TEST_CASE("text that is empty is an empty buffer") {
    CHECK(bytes_of("").empty());
    CHECK(bytes_of({}).empty());
    CHECK(text_of({}).empty());
}

TEST_CASE("arrays, vectors and parts of them are buffers by themselves") {
    std::array<std::byte, 8> fixed{};
    std::vector<std::byte> grown(5);

    const mutable_buffer whole = fixed;
    const mutable_buffer part = whole.first(3);
    const const_buffer seen = grown;
    const const_buffer of_mutable = part;

    CHECK(whole.size() == 8);
    CHECK(of_mutable.size() == 3);
    CHECK(of_mutable.data() == fixed.data());
    CHECK(seen.size() == 5);
}

TEST_CASE(
    "a read takes writable text as well, a string up to its size, and nothing that is constant") {
    char letters[4] = {};
    std::string text(7, '-');
    std::vector<unsigned char> numbers(3);
    std::array<std::byte, 2> bytes{};

    const mutable_buffer in_letters = read_space{letters};
    const mutable_buffer in_text = read_space{text};
    const mutable_buffer in_numbers = read_space{numbers};
    const mutable_buffer in_bytes = read_space{bytes};
    const mutable_buffer in_part = read_space{bytes.data(), 1};

    CHECK(in_letters.size() == 4);
    CHECK(in_text.size() == 7);
    CHECK(static_cast<void*>(in_text.data()) == text.data());
    CHECK(in_numbers.size() == 3);
    CHECK(in_bytes.size() == 2);
    CHECK(in_part.size() == 1);
    CHECK_FALSE(std::is_constructible_v<read_space, const std::string&>);
    CHECK_FALSE(std::is_constructible_v<read_space, const char(&)[4]>);
    CHECK_FALSE(std::is_constructible_v<read_space, std::string>);
    CHECK_FALSE(std::is_constructible_v<read_space, std::vector<int>&>);
}

TEST_CASE("the size of a list of buffers is the sum of theirs") {
    const std::array<const_buffer, 3> list{bytes_of("one"), const_buffer{}, bytes_of("three")};

    CHECK(size_of(const_buffers{list}) == 8);
    CHECK(size_of(const_buffers{}) == 0);
}
