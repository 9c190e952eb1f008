// SPDX-License-Identifier: BSL-1.0
//
// What exchange/codec/soup_packet.hpp promises: every byte of a login, and each way to get it wrong.
#include <exchange/codec/soup_packet.hpp>

#include <codec/packets.hpp>

#include <doctest/doctest.h>

#include <set>

using namespace exchange;
using namespace exchange::testing;

namespace {

constexpr std::string_view login_text = "alice secret            S1                   7";

soup_ending ending_of_login(std::string text) { return parse_soup_login(bytes_of(text)).ending; }

}  // namespace

TEST_CASE("a login is text in fixed fields: names to the left, session and number to the right") {
    const auto formatted = format_soup_login({"alice", "secret", "S1", 7});

    CHECK(text_of(formatted) == "alice secret            S1                   7");
    CHECK(formatted.size() == 46);
}

TEST_CASE("a login comes back, the longest included") {
    const soup_login longest{"abcdef", "0123456789", "session-10", 18446744073709551615u};

    const auto [ending, fields] = parse_soup_login(format_soup_login(longest));

    CHECK(ending == soup_ending::none);
    CHECK(fields.username == longest.username);
    CHECK(fields.password == longest.password);
    CHECK(fields.session == longest.session);
    CHECK(fields.sequence == longest.sequence);
}

TEST_CASE("a blank session means any, and a blank number zero") {
    const auto parsed = parse_soup_login(bytes_of("bob   pw" + std::string(38, ' ')));

    CHECK(parsed.ending == soup_ending::none);
    CHECK(parsed.fields.session.empty());
    CHECK(parsed.fields.sequence == 0);
}

TEST_CASE("a login may be padded on either side") {
    std::string text{login_text};
    std::swap_ranges(text.begin() + 16, text.begin() + 18, text.begin() + 24);

    const auto parsed = parse_soup_login(bytes_of(text));

    CHECK(parsed.fields.session.view() == "S1");
}

TEST_CASE("a login of any other length has the wrong size") {
    const std::string text = std::string{login_text} + " ";
    for (std::size_t size = 0; size <= text.size(); ++size) {
        const soup_ending expected =
            size == soup_login_bytes ? soup_ending::none : soup_ending::wrong_size;
        CHECK(ending_of_login(text.substr(0, size)) == expected);
    }
}

TEST_CASE("digits that are no number, or a number beyond 64 bits, make a login malformed") {
    for (const char* digits : {"-1", "+1", "1 2", "0x1", "1.0", "one", "18446744073709551616"}) {
        std::string text{login_text};
        const std::string field = std::string(20, ' ') + digits;
        text.replace(26, 20, field.substr(field.size() - 20));
        INFO("digits ", digits);
        CHECK(ending_of_login(text) == soup_ending::malformed_login);
    }
}

TEST_CASE("an unprintable byte anywhere makes a login malformed") {
    for (std::size_t at = 0; at < soup_login_bytes; ++at) {
        std::string text{login_text};
        text[at] = '\t';
        CHECK(ending_of_login(text) == soup_ending::malformed_login);
    }
}

TEST_CASE("an acceptance comes back, and one without a name or a number is malformed") {
    const auto formatted = format_soup_acceptance({"S1", 42});
    const auto [ending, fields] = parse_soup_acceptance(formatted);
    const auto blank = parse_soup_acceptance(bytes_of(std::string(30, ' ')));
    const auto nameless = parse_soup_acceptance(bytes_of(std::string(29, ' ') + '1'));
    const auto torn = parse_soup_acceptance(std::span{formatted}.first(29));

    CHECK(text_of(formatted) == "        S1                  42");
    CHECK(ending == soup_ending::none);
    CHECK(fields.session.view() == "S1");
    CHECK(fields.sequence == 42);
    CHECK(blank.ending == soup_ending::malformed_login);
    CHECK(nameless.ending == soup_ending::malformed_login);
    CHECK(torn.ending == soup_ending::wrong_size);
}

TEST_CASE("every ending has a sentence of its own") {
    std::set<std::string_view> sentences;
    for (auto each = soup_ending::none; each <= soup_ending::broken_transport;
         each = static_cast<soup_ending>(static_cast<int>(each) + 1))
        sentences.insert(describe(each));

    CHECK(sentences.size() == static_cast<std::size_t>(soup_ending::broken_transport) + 1);
    CHECK_FALSE(sentences.contains("unknown"));
}
