// SPDX-License-Identifier: BSL-1.0
//
// What gyre/http/fields.hpp promises: order, lookups without case, and that no field can split a message.
#include <gyre/http/fields.hpp>

#include <support/harness.hpp>

#include <string>
#include <vector>

using namespace gyre;
using namespace gyre::http;

namespace {

std::string text_of(const fields& these) {
    std::string all;
    for (const field each : these) {
        all.append(each.name).append("=").append(each.value).append("|");
    }
    return all;
}

}  // namespace

TEST_CASE("fields keep their order and their cases, and are found without case") {
    fields some;
    some.add("Host", "a").add("Accept", "b").add("accept", "c");

    CHECK(text_of(some) == "Host=a|Accept=b|accept=c|");
    CHECK(some.find("HOST") == "a");
    CHECK(some.find("accept") == "b");
    CHECK(some.count("ACCEPT") == 2);
    CHECK_FALSE(some.find("hos"));
    CHECK(some.value_or("age", "none") == "none");
    CHECK(some.size() == 3);
}

TEST_CASE("setting a field replaces all of its name, and removing tells how many there were") {
    fields some;
    some.add("a", "1").add("b", "2").add("A", "3").add("c", "4");

    some.set("a", "5").set("n", std::uint64_t{18446744073709551615U});

    CHECK(text_of(some) == "b=2|c=4|a=5|n=18446744073709551615|");
    CHECK(some.remove("B") == 1);
    CHECK(some.remove("b") == 0);
    CHECK(text_of(some) == "c=4|a=5|n=18446744073709551615|");
}

// RFC 9110, 5.5 and 5.6.2.
TEST_CASE("a field that could split a message is refused, and that is told") {
    const std::vector<std::pair<std::string, std::string>> bad{
        {"a", "x\r\nb: y"}, {"a", "x\ny"},     {"a", "x\ry"}, {"a", std::string{"x\0y", 3}},
        {"a", "\x7f"},      {"", "x"},         {"a b", "x"},  {"a:", "x"},
        {"a\r\n", "x"},     {"\xc3\xa4", "x"}, {"a", " x"},   {"a", "x "}};
    for (const auto& [name, value] : bad) {
        fields some;
        some.add("good", "1").add(name, value);

        CAPTURE(name);
        CAPTURE(value);
        CHECK(some.refused());
        CHECK(text_of(some) == "good=1|");
    }
}

TEST_CASE("tabs inside of values and bytes beyond ASCII are no reason to refuse a field") {
    fields some;
    some.add("a", "x\ty").add("b", "\xc3\xa4").add("c", "");

    CHECK_FALSE(some.refused());
    CHECK(some.size() == 3);
}

TEST_CASE("fields grow, are copied, moved and cleared") {
    fields some;
    std::string expected;
    for (int at = 0; at < 500; ++at) {
        const std::string name = "name-" + std::to_string(at);
        some.add(name, "value");
        expected.append(name).append("=value|");
    }
    const fields copy = some;
    fields moved = std::move(some);

    CHECK(text_of(copy) == expected);
    CHECK(text_of(moved) == expected);
    moved.clear();
    CHECK(moved.empty());
    CHECK(text_of(moved).empty());
    CHECK(copy.size() == 500);
}

TEST_CASE("list elements are separated by commas outside of quotes, and empty ones are read over") {
    const std::vector<std::pair<std::string, std::vector<std::string>>> lists{
        {"a, b", {"a", "b"}},
        {",, a ,", {"a"}},
        {"\"x,y\", z", {"\"x,y\"", "z"}},
        {"a;q=\"1,\\\"2\",b", {"a;q=\"1,\\\"2\"", "b"}},
        {"", {}},
        {" ", {}},
        {"\"open", {"\"open"}}};
    for (const auto& [list, expected] : lists) {
        std::vector<std::string> found;
        list_elements elements{list};
        while (const auto each = elements.next()) found.emplace_back(*each);

        CAPTURE(list);
        CHECK(found == expected);
    }
}

TEST_CASE("a token is found in any of a name's lists, whatever its parameters") {
    fields some;
    some.add("connection", "keep-alive, Upgrade").add("connection", "close;x=1");

    CHECK(some.has_token("Connection", "upgrade"));
    CHECK(some.has_token("connection", "CLOSE"));
    CHECK_FALSE(some.has_token("connection", "keep"));
}
