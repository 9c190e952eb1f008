// SPDX-License-Identifier: BSL-1.0
#include <websocket/header_scanner.hpp>

#include <support/harness.hpp>

#include <string>

using namespace gyre::websocket;

namespace {

std::string tokens(std::string_view list) {
    std::string all;
    for_each_token(list, [&all](std::string_view each) { all.append(each) += '|'; });
    return all;
}

}  // namespace

// RFC 9110, 5.6.1 and 5.6.2.
TEST_CASE("header scanner: lists of tokens, with blanks, empty elements and what is no token") {
    CHECK(tokens("keep-alive, Upgrade") == "keep-alive|Upgrade|");
    CHECK(tokens(" \ta ,\t,b,") == "a|b|");
    CHECK(tokens("").empty());
    CHECK(tokens("a b, c") == "c|");
    CHECK(tokens("\"a, b\", c") == "c|");
    CHECK(tokens("a/1, c") == "c|");
}

TEST_CASE("header scanner: values are tokens or quoted") {
    header_scanner scan{"10 ; \"ten\" ; \"t\\en\""};
    CHECK(scan.value() == "10");
    CHECK(scan.take(';'));
    CHECK(scan.value() == "ten");
    CHECK(scan.take(';'));
    CHECK(scan.value().empty());
    CHECK_FALSE(scan.at_end());
}
