// SPDX-License-Identifier: BSL-1.0
//
// The ceiling has to do the work of the servers below it: every request answered once, whatever was cut.
#include <lab/servers/web.hpp>
#include <lab/servers/web_answers.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using servers::web_answers;

namespace {

constexpr std::string_view post =
    "POST /sum?a=13&b=42 HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n20";
constexpr std::string_view text = "GET /text HTTP/1.1\r\nHost: a\r\n\r\n";

std::string content_in(std::string_view answer) {
    return std::string{answer.substr(answer.find("\r\n\r\n") + 4)};
}

std::string asked(std::string_view request) {
    web_answers of;
    return content_in(of.answer_to(request));
}

}  // namespace

TEST_CASE("each path has its answer") {
    CHECK(asked(text) == "Hello, World!");
    CHECK(asked("GET /json HTTP/1.1\r\nHost: a\r\n\r\n") == servers::json_text());
    CHECK(asked("GET /sum?a=13&b=42 HTTP/1.1\r\nHost: a\r\n\r\n") == "55");
    CHECK(asked("GET /sum?b=42&a=-13 HTTP/1.1\r\nHost: a\r\n\r\n") == "29");
    CHECK(asked(post) == "75");

    web_answers of;
    CHECK(of.answer_to("GET /other HTTP/1.1\r\nHost: a\r\n\r\n").starts_with("HTTP/1.1 404 "));
    const std::string_view answer = of.answer_to(text);
    CHECK(answer.starts_with("HTTP/1.1 200 OK\r\nDate: "));
    CHECK(answer.find("\r\nContent-Length: 13\r\n") != std::string_view::npos);
}

TEST_CASE("a request that is cut anywhere is answered when its last byte has come") {
    for (const std::string_view whole : {text, post}) {
        for (std::size_t cut = 1; cut < whole.size(); ++cut) {
            CAPTURE(cut);
            web_answers of;
            CHECK(of.answer_to(whole.substr(0, cut)).empty());
            CHECK(content_in(of.answer_to(whole.substr(cut))) == asked(whole));
            CHECK(content_in(of.answer_to(text)) == "Hello, World!");
        }
    }
}

TEST_CASE("requests that come together are answered together, and what is left of one waits") {
    web_answers of;
    const std::string two = std::string{post} + std::string{text};
    const std::string one{of.answer_to(text)};

    const std::string both{of.answer_to(two + two.substr(0, 5))};
    CHECK(both.ends_with(one));
    CHECK(both.find("\r\n\r\n75HTTP/1.1 200") != std::string::npos);
    CHECK(std::string{of.answer_to(two.substr(5))} == both);
}

TEST_CASE("after the request that closes nothing more is answered") {
    web_answers of;
    const std::string last = "GET /text HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";

    const std::string answer{of.answer_to(last + std::string{text})};
    CHECK(of.closes());
    CHECK(answer.find("\r\nConnection: close\r\n") != std::string::npos);
    CHECK(answer.find("HTTP/1.1", 8) == std::string::npos);
    CHECK(of.answer_to(text).empty());
}

TEST_CASE("a request without an end is given up") {
    web_answers of;
    CHECK(of.answer_to(std::string(web_answers::request_bytes_max, 'a')).empty());
    CHECK(!of.closes());
    CHECK(of.answer_to("a").empty());
    CHECK(of.closes());
}

TEST_CASE("requests over TLS tell how much they want and whether it is the last") {
    const auto asks =
        servers::next_bytes_request("GET /bytes/16384 HTTP/1.1\r\nHost: a\r\n\r\nGET");
    REQUIRE(asks.has_value());
    CHECK(asks->bytes == 16'384);
    CHECK(asks->length == 38);
    CHECK(!asks->closes);
    CHECK(!servers::next_bytes_request("GET /bytes/16384 HTTP/1.1\r\nHost: a\r\n").has_value());
    const auto last =
        servers::next_bytes_request("GET /bytes/2 HTTP/1.1\r\nConnection: close\r\n\r\n");
    REQUIRE(last.has_value());
    CHECK(last->closes);
    CHECK(servers::bytes_answer(*last).ends_with("\r\nConnection: close\r\n\r\n01"));
}

TEST_CASE("content repeats after a prime number of bytes") {
    const std::string content = servers::content_of(1'000);
    CHECK(content.substr(0, 3) == "012");
    CHECK(content[250] == '0' + 250 % 75);
    CHECK(content.substr(251, 251) == content.substr(0, 251));
}
