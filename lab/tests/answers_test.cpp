// SPDX-License-Identifier: BSL-1.0
//
// A server that answers too early, too late or not at all would be measured at other work.
#include <lab/servers/answers.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using servers::closing_response;
using servers::http_answers;
using servers::staying_response;
using servers::stays_after;

namespace {

constexpr std::string_view modern = "GET /404 HTTP/1.1\r\nHost: a\r\n\r\n";
constexpr std::string_view last = "GET /404 HTTP/1.1\r\nConnection: close\r\n\r\n";

}  // namespace

TEST_CASE("a request that arrives whole is answered at once") {
    http_answers scanner;

    CHECK(scanner.answer_to(modern) == staying_response);
    CHECK(!scanner.closes());
    CHECK(scanner.answer_to(modern) == staying_response);
}

TEST_CASE("a request that is cut anywhere is answered when its last byte has come") {
    for (std::size_t cut = 1; cut < modern.size(); ++cut) {
        CAPTURE(cut);
        http_answers scanner;
        CHECK(scanner.answer_to(modern.substr(0, cut)).empty());
        CHECK(scanner.answer_to(modern.substr(cut)) == staying_response);
        CHECK(scanner.answer_to(modern) == staying_response);
    }
}

TEST_CASE("requests that arrive together are answered in one go") {
    http_answers scanner;
    const std::string three = std::string{modern} + std::string{modern} + std::string{modern};

    const std::string_view answers = scanner.answer_to(three.substr(0, three.size() - 1));
    CHECK(answers == std::string{staying_response} + std::string{staying_response});
    CHECK(scanner.answer_to("\n") == staying_response);
}

TEST_CASE("after a request that ends the connection nothing more is answered") {
    http_answers scanner;
    const std::string both = std::string{last} + std::string{modern};

    CHECK(scanner.answer_to(both) == closing_response);
    CHECK(scanner.closes());
    CHECK(scanner.answer_to(modern).empty());

    http_answers alone;
    CHECK(alone.answer_to(last) == closing_response);
    CHECK(alone.answer_to(modern).empty());
}

TEST_CASE("a request without an end is given up") {
    http_answers scanner;

    CHECK(scanner.answer_to(std::string(http_answers::request_bytes_max, 'a')).empty());
    CHECK(!scanner.closes());
    CHECK(scanner.answer_to("a").empty());
    CHECK(scanner.closes());
}

TEST_CASE("HTTP/1.1 stays unless it says otherwise, HTTP/1.0 if it asks for it") {
    CHECK(stays_after(modern));
    CHECK(!stays_after(last));
    CHECK(!stays_after("GET / HTTP/1.1\r\nHost: a\r\nCONNECTION:Close\r\n\r\n"));
    CHECK(!stays_after("GET / HTTP/1.0\r\nHost: a\r\n\r\n"));
    CHECK(stays_after("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\nHost: a\r\n\r\n"));
    CHECK(stays_after("GET /close HTTP/1.1\r\nX-Connection: close\r\n\r\n"));
    CHECK(!stays_after("GET / HTTP/1.0\r\n\r\n"));
}
