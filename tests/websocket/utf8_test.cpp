// SPDX-License-Identifier: BSL-1.0
#include <gyre/websocket/utf8.hpp>

#include <support/harness.hpp>
#include <websocket/bytes.hpp>

#include <string>

using namespace gyre;
using namespace gyre::testing;
using namespace gyre::websocket;

namespace {

// By the definition: decode, and look at what came out.
bool is_character(std::string_view text) {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    const unsigned first = byte(0);
    const std::size_t size = first < 0x80 ? 1 : first >> 5 == 6 ? 2 : first >> 4 == 14 ? 3 : 4;
    if (size == 4 && first >> 3 != 30) return false;
    if (text.size() != size) return false;
    unsigned long point = size == 1 ? first : first & (0x7fU >> size);
    for (std::size_t each = 1; each < size; ++each) {
        if (byte(each) >> 6 != 2) return false;
        point = point << 6 | (byte(each) & 0x3fU);
    }
    constexpr unsigned long least[] = {0, 0, 0x80, 0x800, 0x10000};
    return point >= least[size] && point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
}

}  // namespace

// RFC 3629, 4.
TEST_CASE(
    "utf8: of all texts of up to three bytes, and of four that matter, those that are characters") {
    std::string text;
    for (unsigned first = 0; first < 256; ++first) {
        text.assign(1, static_cast<char>(first));
        REQUIRE(is_utf8(bytes_of(text)) == is_character(text));
    }
    for (unsigned pair = 0x8000; pair < 0x10000; ++pair) {
        text = {static_cast<char>(pair >> 8), static_cast<char>(pair & 0xff)};
        REQUIRE(is_utf8(bytes_of(text)) ==
                (is_character(text) ||
                 (is_character(text.substr(0, 1)) && is_character(text.substr(1)))));
        // Behind a lead of three or four bytes, with continuations that are as high or as low as can be.
        for (const char third : {'\x7f', '\x80', '\xbf', '\xc0'}) {
            const std::string three = text + third;
            if ((pair >> 12) == 0xe) REQUIRE(is_utf8(bytes_of(three)) == is_character(three));
            const std::string four = three + '\x80';
            if ((pair >> 12) == 0xf) REQUIRE(is_utf8(bytes_of(four)) == is_character(four));
        }
    }
}

// RFC 6455, 8.1.
TEST_CASE("utf8: a text is the same however it is cut") {
    const std::string text =
        "plain ascii text, \xce\xba\xe1\xbd\xb9 \xf0\x9f\x98\x80 and the rest of it";
    for (std::size_t cut = 0; cut <= text.size(); ++cut) {
        utf8_validator check;
        REQUIRE(check.take(bytes_of(text).first(cut)));
        REQUIRE(check.take(bytes_of(text).subspan(cut)));
        REQUIRE(check.complete());
    }
}

TEST_CASE("utf8: what cannot be is told at its first byte, and stays so") {
    utf8_validator check;
    CHECK(check.take(bytes_of("\xf4")));
    CHECK_FALSE(check.complete());
    CHECK_FALSE(check.take(bytes_of("\x90")));
    CHECK_FALSE(check.take(bytes_of("a")));
    CHECK_FALSE(check.complete());
}
