// SPDX-License-Identifier: BSL-1.0
//
// What exchange/codec/padded_text.hpp promises about blanks on either side.
#include <exchange/codec/padded_text.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace exchange;

namespace {

std::string padded(void (*pad)(std::span<std::byte>, std::string_view) noexcept,
                   std::string_view text) {
    std::array<std::byte, 6> field{};
    pad(field, text);
    return {reinterpret_cast<const char*>(field.data()), field.size()};
}

std::optional<std::string_view> trim(std::string_view field) {
    return trimmed(std::as_bytes(std::span{field.data(), field.size()}));
}

}  // namespace

TEST_CASE("blanks fill a field on the side that was asked for") {
    CHECK(padded(pad_right, "ab") == "ab    ");
    CHECK(padded(pad_left, "ab") == "    ab");
    CHECK(padded(pad_left, "abcdef") == "abcdef");
    CHECK(padded(pad_right, "") == "      ");
}

TEST_CASE("a field is trimmed on both sides, and blanks inside it stay") {
    CHECK(trim("  a b ") == "a b");
    CHECK(trim("abc") == "abc");
    CHECK(trim("    ") == "");
    CHECK(trim("") == "");
}

TEST_CASE("what cannot be printed is no text") {
    CHECK_FALSE(trim("ab\n").has_value());
    CHECK_FALSE(trim(std::string_view{"a\0b", 3}).has_value());
    CHECK_FALSE(trim("a\x7F").has_value());
    CHECK_FALSE(trim("\xE4").has_value());
}

TEST_CASE("two spellings of one name are equal") {
    CHECK(padded_text<10>{*trim("   S1")} == padded_text<10>{*trim("S1   ")});
    CHECK_FALSE(padded_text<10>{"S1"} == padded_text<10>{"S2"});
    CHECK(padded_text<10>{}.empty());
}
