// SPDX-License-Identifier: BSL-1.0
//
// What gyre/base/buffer.hpp promises: views of bytes that the caller owns.
#include <gyre/base/buffer.hpp>

#include <doctest/doctest.h>

#include <array>
#include <string>
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

TEST_CASE("the size of a list of buffers is the sum of theirs") {
    const std::array<const_buffer, 3> list{bytes_of("one"), const_buffer{}, bytes_of("three")};

    CHECK(size_of(const_buffers{list}) == 8);
    CHECK(size_of(const_buffers{}) == 0);
}
