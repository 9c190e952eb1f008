// SPDX-License-Identifier: BSL-1.0
#include <exchange/codec/json_text.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <string_view>

using namespace exchange;

namespace {

std::string written(auto what, std::size_t room = 256) {
    std::array<std::byte, 256> space;
    json_writer to{std::span{space}.first(room)};
    what(to);
    if (to.full()) return "full";
    return {reinterpret_cast<const char*>(space.data()), to.size()};
}

/// The string that `text` is, or what is wrong with it.
std::string read_text(std::string_view text) {
    json_cursor it{text};
    const auto read = it.text();
    if (!read) return std::string{describe(it.fault())};
    return std::string{*read};
}

std::string read_natural(std::string_view text) {
    json_cursor it{text};
    const auto read = it.natural();
    if (!read) return std::string{describe(it.fault())};
    return std::to_string(*read);
}

std::string read_integer(std::string_view text) {
    json_cursor it{text};
    const auto read = it.integer();
    if (!read) return std::string{describe(it.fault())};
    return std::to_string(*read);
}

std::string told(json_fault fault) { return std::string{describe(fault)}; }

}  // namespace

TEST_CASE("json writer: commas stand where they belong") {
    const std::string made = written([](json_writer& to) {
        to.begin_object();
        to.key("a");
        to.natural(1);
        to.key("b");
        to.begin_list();
        to.item();
        to.begin_object();
        to.end_object();
        to.item();
        to.begin_object();
        to.key("c");
        to.truth(true);
        to.key("d");
        to.truth(false);
        to.end_object();
        to.end_list();
        to.key("e");
        to.begin_object();
        to.end_object();
        to.key("f");
        to.text("x");
        to.end_object();
    });

    CHECK(made == R"({"a":1,"b":[{},{"c":true,"d":false}],"e":{},"f":"x"})");
}

TEST_CASE("json writer: numbers to their ends, with and without quotes") {
    constexpr auto least = std::numeric_limits<std::int64_t>::min();
    constexpr auto most = std::numeric_limits<std::uint64_t>::max();
    CHECK(written([](auto& to) { to.natural(most); }) == "18446744073709551615");
    CHECK(written([](auto& to) { to.integer(least); }) == "-9223372036854775808");
    CHECK(written([](auto& to) { to.quoted_natural(most); }) == R"("18446744073709551615")");
    CHECK(written([](auto& to) { to.quoted_integer(least); }) == R"("-9223372036854775808")");
}

TEST_CASE("json writer: whatever could end a string or is not printable is escaped") {
    using namespace std::string_view_literals;
    CHECK(written([](auto& to) { to.text("a\"b\\c"sv); }) == R"("a\u0022b\u005cc")");
    CHECK(written([](auto& to) { to.text("\0\n\x7f\xff"sv); }) == R"("\u0000\u000a\u007f\u00ff")");
    CHECK(written([](auto& to) { to.text(""); }) == R"("")");
}

TEST_CASE("json writer: with one byte too little it is full, and stays so") {
    const auto object = [](json_writer& to) {
        to.begin_object();
        to.key("key");
        to.natural(12345);
        to.end_object();
    };
    CHECK(written(object, 13) == R"({"key":12345})");
    for (std::size_t room = 0; room < 13; ++room) CHECK(written(object, room) == "full");
}

TEST_CASE("json cursor: strings and their escapes") {
    CHECK(read_text(R"(  "plain" )") == "plain");
    CHECK(read_text(R"("a\"b\\c\/d\u0041")") == "a\"b\\c/dA");
    CHECK(read_text(R"("")").empty());
    CHECK(read_text(R"("x)") == told(json_fault::not_json));
    CHECK(read_text(R"("\x")") == told(json_fault::not_json));
    CHECK(read_text(R"("\u00)") == told(json_fault::not_json));
    CHECK(read_text(R"("\u00g0")") == told(json_fault::not_json));
    CHECK(read_text(R"("\)") == told(json_fault::not_json));
    CHECK(read_text("\"a\nb\"") == told(json_fault::not_json));
    CHECK(read_text(R"("\n")") == told(json_fault::not_printable));
    CHECK(read_text(R"("\u00e9")") == told(json_fault::not_printable));
    CHECK(read_text("\"\xc3\xa9\"") == told(json_fault::not_printable));
    CHECK(read_text("5") == told(json_fault::wrong_type));
    CHECK(read_text("") == told(json_fault::not_json));
}

TEST_CASE("json cursor: a string may be as long as the longest field, and not longer") {
    const std::string most(json_cursor::text_bytes_max, 'x');
    CHECK(read_text('"' + most + '"') == most);
    CHECK(read_text('"' + most + "x\"") == told(json_fault::too_long));
}

TEST_CASE("json cursor: integers as the grammar has them, and no others") {
    CHECK(read_natural("0") == "0");
    CHECK(read_natural(" 18446744073709551615 ") == "18446744073709551615");
    CHECK(read_natural("18446744073709551616") == told(json_fault::out_of_range));
    CHECK(read_natural("-1") == told(json_fault::out_of_range));
    CHECK(read_integer("-9223372036854775808") == "-9223372036854775808");
    CHECK(read_integer("9223372036854775808") == told(json_fault::out_of_range));
    for (const std::string_view bad : {"01", "-", "-01"})
        CHECK(read_integer(bad) == told(json_fault::not_json));
    for (const std::string_view other : {"1.0", "1e3", "1E3", "\"1\"", "true", "{}", "[1]", "+1"})
        CHECK(read_integer(other) == told(json_fault::wrong_type));
    CHECK(read_integer("") == told(json_fault::not_json));
}

TEST_CASE("json cursor: numbers in strings are held to the same") {
    CHECK(parse_natural("18446744073709551615") == std::numeric_limits<std::uint64_t>::max());
    CHECK(parse_integer("-5") == -5);
    for (const std::string_view bad :
         {"", "-", "01", "1 ", " 1", "1.5", "0x1", "18446744073709551616"}) {
        CHECK_FALSE(parse_natural(bad).has_value());
        CHECK_FALSE(parse_integer(bad).has_value());
    }
}

TEST_CASE("json cursor: the first fault is the one that is told") {
    json_cursor it{R"({"a" 1})"};
    CHECK(it.take('{'));
    CHECK_FALSE(it.key().has_value());
    it.fail(json_fault::out_of_range);
    CHECK(it.fault() == json_fault::not_json);
    CHECK(it.position() == 5);
}

TEST_CASE("json cursor: a NUL in the text is not its end") {
    using namespace std::string_view_literals;
    json_cursor it{"\0"sv};
    CHECK_FALSE(it.at_end());
    CHECK_FALSE(it.take('x'));
    CHECK(json_cursor{"  "}.at_end());
}

TEST_CASE("json cursor: each fault has words of its own") {
    std::set<std::string_view> sentences;
    for (auto each = json_fault::none; each <= json_fault::wrong_sequence;
         each = static_cast<json_fault>(static_cast<int>(each) + 1))
        sentences.insert(describe(each));
    CHECK(sentences.size() == static_cast<std::size_t>(json_fault::wrong_sequence) + 1);
}
