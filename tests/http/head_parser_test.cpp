// SPDX-License-Identifier: BSL-1.0
//
// What gyre/http/head_parser.hpp promises: what is read of a head wherever its bytes are split, and a corpus
// of heads that are refused, each for its own reason.
#include <gyre/http/head_parser.hpp>

#include <support/harness.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

using namespace gyre;
using namespace gyre::http;

namespace {

struct outcome {
    head_progress progress = head_progress::incomplete;
    std::size_t seen = 0;  // Bytes that had come then.
};

// Gives the parser one byte more each time, in memory that has just these bytes.
outcome parse_bytewise(head_parser& parser, std::string_view text, request& into) {
    for (std::size_t seen = 1; seen <= text.size(); ++seen) {
        const std::string window{text.substr(0, seen)};
        const head_progress progress = parser.parse_request(bytes_of(window), into);
        if (progress != head_progress::incomplete) return {progress, seen};
    }
    return {head_progress::incomplete, text.size()};
}

struct refused_row {
    const char* what;
    std::string text;
    refusal why;
};

void check_refused(const refused_row& row) {
    CAPTURE(row.what);
    request into;
    head_parser whole;
    CHECK(whole.parse_request(bytes_of(row.text), into) == head_progress::refused);
    CHECK(std::string_view{describe(whole.why())} == describe(row.why));
    head_parser bytewise;
    CHECK(parse_bytewise(bytewise, row.text, into).progress == head_progress::refused);
    CHECK(std::string_view{describe(bytewise.why())} == describe(row.why));
    const unsigned code = number_of(status_for(row.why));
    CHECK((code / 100 == 4 || code == 501 || code == 505));
    CHECK(error_for(row.why));
}

std::string get_with(std::string_view lines) {
    return std::string{"GET / HTTP/1.1\r\nHost: a\r\n"}.append(lines).append("\r\n");
}
std::string post_with(std::string_view lines) {
    return std::string{"POST / HTTP/1.1\r\nHost: a\r\n"}.append(lines).append("\r\n");
}

}  // namespace

TEST_CASE("a head is read the same wherever its bytes are split, and no byte too early") {
    const std::string text =
        "POST /a/b?c=d HTTP/1.1\r\nHost: example.org:8080\r\nX-Empty:\r\nX-Blank: \t v w \t\r\n"
        "Content-Length: 5\r\nConnection: Upgrade, close\r\nUpgrade: h\r\nExpect: "
        "100-Continue\r\n\r\n";
    request into;
    head_parser parser;

    const outcome got = parse_bytewise(parser, text, into);

    REQUIRE(got.progress == head_progress::complete);
    CHECK(got.seen == text.size());
    CHECK(parser.size() == text.size());
    CHECK(into.method() == method::post);
    CHECK(into.method_text() == "POST");
    CHECK(into.target() == "/a/b?c=d");
    CHECK(into.path() == "/a/b");
    CHECK(into.query() == "c=d");
    CHECK(into.authority() == "example.org:8080");
    CHECK(into.fields.size() == 7);
    CHECK(into.fields.find("x-empty") == "");
    CHECK(into.fields.find("x-blank") == "v w");
    CHECK(parser.framing().by == body_framing::kind::length);
    CHECK(parser.framing().length == 5);
    CHECK_FALSE(parser.keeps_alive());
    CHECK(parser.upgrades());
    CHECK(parser.expects_continue());
}

// RFC 9112, 2.2.
TEST_CASE("one empty line in front of a request is skipped and counted, two are refused") {
    request into;
    head_parser parser;
    const std::string text = "\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n";

    CHECK(parse_bytewise(parser, text, into).progress == head_progress::complete);
    CHECK(parser.size() == text.size());
    const std::string twice = "\r\n" + text;
    head_parser other;
    CHECK(other.parse_request(bytes_of(twice), into) == head_progress::refused);
}

TEST_CASE("one parser reads one head after another") {
    const std::string text =
        "GET /1 HTTP/1.1\r\nHost: a\r\nX: y\r\n\r\nHEAD /2 HTTP/1.0\r\n\r\nrest";
    request into;
    head_parser parser;

    REQUIRE(parser.parse_request(bytes_of(text), into) == head_progress::complete);
    CHECK(into.target() == "/1");
    CHECK(parser.keeps_alive());
    const std::string rest = text.substr(parser.size());
    REQUIRE(parser.parse_request(bytes_of(rest), into) == head_progress::complete);

    CHECK(into.method() == method::head);
    CHECK(into.target() == "/2");
    CHECK(into.fields.empty());
    CHECK(into.authority().empty());
    CHECK(into.version() == version::http_1_0);
    CHECK_FALSE(parser.keeps_alive());
    CHECK(rest.substr(parser.size()) == "rest");
}

// RFC 9112, 3.2.
TEST_CASE("the four forms of a target are told apart") {
    request into;
    head_parser parser;
    const auto parse = [&](std::string_view line) {
        const std::string text = std::string{line}.append("\r\nHost: named\r\n\r\n");
        return parser.parse_request(bytes_of(text), into);
    };

    CHECK(parse("GET http://other:81/p?q HTTP/1.1") == head_progress::complete);
    CHECK(into.target() == "/p?q");
    CHECK(into.authority() == "other:81");
    CHECK(into.scheme() == "http");
    CHECK(parse("GET HTTPS://other?q HTTP/1.1") == head_progress::complete);
    CHECK(into.target() == "/?q");
    CHECK(into.scheme() == "https");
    CHECK(parse("OPTIONS * HTTP/1.1") == head_progress::complete);
    CHECK(into.target() == "*");
    CHECK(into.authority() == "named");
    CHECK(parse("CONNECT host:443 HTTP/1.1") == head_progress::complete);
    CHECK(into.authority() == "host:443");
    CHECK(parser.upgrades());
}

TEST_CASE("request lines outside of the grammar are refused") {
    const std::vector<refused_row> rows{
        {"no target", "GET HTTP/1.1\r\nHost: a\r\n\r\n", refusal::start_line},
        {"two spaces in front of the target", "GET  / HTTP/1.1\r\nHost: a\r\n\r\n",
         refusal::target_malformed},
        {"two spaces behind the target", "GET /  HTTP/1.1\r\nHost: a\r\n\r\n",
         refusal::target_malformed},
        {"a blank behind the version", "GET / HTTP/1.1 \r\nHost: a\r\n\r\n", refusal::start_line},
        {"a tab for a space", "GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n", refusal::start_line},
        {"a request of HTTP/0.9", "GET /\r\n\r\n", refusal::start_line},
        {"HTTP/1.2", "GET / HTTP/1.2\r\nHost: a\r\n\r\n", refusal::version_unknown},
        {"HTTP/2.0", "PRI * HTTP/2.0\r\n\r\n", refusal::version_unknown},
        {"HTTP/1.10", "GET / HTTP/1.10\r\nHost: a\r\n\r\n", refusal::version_unknown},
        {"a lower-case version", "GET / http/1.1\r\nHost: a\r\n\r\n", refusal::start_line},
        {"another protocol", "DESCRIBE / RTSP/1.0\r\nHost: a\r\n\r\n", refusal::start_line},
        {"a method that is not known", "FETCH / HTTP/1.1\r\nHost: a\r\n\r\n",
         refusal::method_unknown},
        {"a method of another protocol", "DESCRIBE / HTTP/1.1\r\nHost: a\r\n\r\n",
         refusal::method_unknown},
        {"the method that begins HTTP/2", "PRI / HTTP/1.1\r\nHost: a\r\n\r\n",
         refusal::method_unknown},
        {"a lower-case method", "get / HTTP/1.1\r\nHost: a\r\n\r\n", refusal::method_unknown},
        {"a fragment", "GET /#a HTTP/1.1\r\nHost: a\r\n\r\n", refusal::target_malformed},
        {"bytes beyond ASCII", "GET /\xc3\xa4 HTTP/1.1\r\nHost: a\r\n\r\n",
         refusal::target_malformed},
        {"user information", "GET http://u@h/ HTTP/1.1\r\nHost: a\r\n\r\n",
         refusal::target_malformed},
        {"a fragment behind a query", "GET /?a#b HTTP/1.1\r\nHost: a\r\n\r\n",
         refusal::target_malformed},
        {"a fragment of an absolute form", "GET http://h/#a HTTP/1.1\r\nHost: a\r\n\r\n",
         refusal::target_malformed},
        {"a backslash in the path", "GET /a\\..\\b HTTP/1.1\r\nHost: a\r\n\r\n",
         refusal::target_malformed},
        {"half of an escape", "GET /a%4 HTTP/1.1\r\nHost: a\r\n\r\n", refusal::target_malformed},
        {"a tunnel to no port", "CONNECT h HTTP/1.1\r\nHost: h\r\n\r\n", refusal::target_malformed},
        {"a tunnel to an empty port", "CONNECT h: HTTP/1.1\r\nHost: h\r\n\r\n",
         refusal::target_malformed},
        {"a tunnel to a port that cannot be", "CONNECT h:65536 HTTP/1.1\r\nHost: h\r\n\r\n",
         refusal::target_malformed},
        {"an asterisk for GET", "GET * HTTP/1.1\r\nHost: a\r\n\r\n", refusal::target_malformed},
        {"a greeting of TLS", std::string{"\x16\x03\x01\x02\x00\x01\x00", 7}, refusal::start_line}};
    for (const refused_row& row : rows) check_refused(row);
}

// RFC 9112, 2.2 and 5.2.
TEST_CASE("lines that two readers could end differently are refused") {
    const std::vector<refused_row> rows{
        {"a bare LF behind the request line", "GET / HTTP/1.1\nHost: a\r\n\r\n",
         refusal::line_ending},
        {"a bare LF behind a field", get_with("X: y\n"), refusal::line_ending},
        {"a bare LF as the empty line", "GET / HTTP/1.1\r\nHost: a\r\n\n", refusal::line_ending},
        {"a bare CR behind a field", get_with("X: y\rContent-Length: 5\r\n"), refusal::line_ending},
        {"two CRs", get_with("X: y\r\r\n"), refusal::line_ending},
        {"a bare CR in a name", get_with("X\rY: z\r\n"), refusal::line_ending},
        {"a folded line", get_with("X: y\r\n z\r\n"), refusal::folded_line},
        {"a line folded by a tab", get_with("X: y\r\n\tz\r\n"), refusal::folded_line},
        {"a blank in front of the first field", "GET / HTTP/1.1\r\n Host: a\r\n\r\n",
         refusal::folded_line},
        {"a NUL in a value", get_with(std::string{"X: y\0z\r\n", 8}), refusal::null_byte},
        {"a NUL in the target", std::string{"GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n", 28},
         refusal::null_byte},
        {"a line feed in front", "\nGET / HTTP/1.1\r\n", refusal::line_ending}};
    for (const refused_row& row : rows) check_refused(row);
}

// RFC 9112, 5.1 and 3.2.
TEST_CASE("malformed fields are refused") {
    const std::vector<refused_row> rows{
        {"a blank in front of the colon", get_with("X : y\r\n"), refusal::field_malformed},
        {"a tab in front of the colon", get_with("X\t: y\r\n"), refusal::field_malformed},
        {"no colon", get_with("X\r\n"), refusal::field_malformed},
        {"no name", get_with(": y\r\n"), refusal::field_malformed},
        {"a name with a blank", get_with("X Y: z\r\n"), refusal::field_malformed},
        {"a name beyond ASCII", get_with("\xc3\xa4: z\r\n"), refusal::field_malformed},
        {"a control in a value", get_with("X: \x01\r\n"), refusal::field_malformed},
        {"a delete in a value", get_with("X: \x7f\r\n"), refusal::field_malformed},
        {"no host", "GET / HTTP/1.1\r\nX: y\r\n\r\n", refusal::host_missing},
        {"two hosts", get_with("Host: b\r\n"), refusal::host_malformed},
        {"a host with a slash", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", refusal::host_malformed},
        {"a host with a port that is none", "GET / HTTP/1.1\r\nHost: a:b\r\n\r\n",
         refusal::host_malformed},
        {"a host in brackets that do not end", "GET / HTTP/1.1\r\nHost: [::1\r\n\r\n",
         refusal::host_malformed},
        {"a host with colons", "GET / HTTP/1.1\r\nHost: ::1\r\n\r\n", refusal::host_malformed},
        {"a host with a user", "GET / HTTP/1.1\r\nHost: a@b\r\n\r\n", refusal::host_malformed},
        {"a port without a host", "GET / HTTP/1.1\r\nHost: :80\r\n\r\n", refusal::host_malformed},
        {"a port beyond its bound", "GET / HTTP/1.1\r\nHost: a:65536\r\n\r\n",
         refusal::host_malformed},
        {"a host with an escape", "GET / HTTP/1.1\r\nHost: a%2fb\r\n\r\n", refusal::host_malformed},
        {"an address in brackets that is a name", "GET / HTTP/1.1\r\nHost: [a]\r\n\r\n",
         refusal::host_malformed},
        {"another expectation", post_with("Content-Length: 1\r\nExpect: 200-ok\r\n"),
         refusal::expectation_unknown}};
    for (const refused_row& row : rows) check_refused(row);
}

// RFC 9112, 6.1 and 6.3.
TEST_CASE("framing that two readers could read differently is refused") {
    const std::vector<refused_row> rows{
        {"two lengths", post_with("Content-Length: 5\r\nContent-Length: 6\r\n"),
         refusal::length_malformed},
        {"one length twice", post_with("Content-Length: 5\r\nContent-Length: 5\r\n"),
         refusal::length_malformed},
        {"a list of lengths", post_with("Content-Length: 5, 5\r\n"), refusal::length_malformed},
        {"a sign", post_with("Content-Length: +5\r\n"), refusal::length_malformed},
        {"a negative length", post_with("Content-Length: -1\r\n"), refusal::length_malformed},
        {"a hexadecimal length", post_with("Content-Length: 0x5\r\n"), refusal::length_malformed},
        {"a length that overflows", post_with("Content-Length: 18446744073709551616\r\n"),
         refusal::length_malformed},
        {"a length beyond a sign", post_with("Content-Length: 9223372036854775808\r\n"),
         refusal::length_malformed},
        {"no length", post_with("Content-Length:\r\n"), refusal::length_malformed},
        {"length in front of coding",
         post_with("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"),
         refusal::length_and_coding},
        {"coding in front of length",
         post_with("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"),
         refusal::length_and_coding},
        {"chunked twice", post_with("Transfer-Encoding: chunked, chunked\r\n"),
         refusal::coding_malformed},
        {"chunked in front of another", post_with("Transfer-Encoding: chunked, gzip\r\n"),
         refusal::coding_malformed},
        {"another in front of chunked", post_with("Transfer-Encoding: gzip, chunked\r\n"),
         refusal::coding_unknown},
        {"identity", post_with("Transfer-Encoding: identity\r\n"), refusal::coding_unknown},
        {"something like chunked", post_with("Transfer-Encoding: xchunked\r\n"),
         refusal::coding_unknown},
        {"an empty coding", post_with("Transfer-Encoding:\r\n"), refusal::coding_malformed},
        {"chunked in HTTP/1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
         refusal::coding_malformed}};
    for (const refused_row& row : rows) check_refused(row);
}

TEST_CASE("heads are refused at their bounds, and not one byte before") {
    const head_limits limits{256, 64, 3};
    const auto progress_of = [&](const std::string& text, refusal& why) {
        request into;
        head_parser parser{limits};
        const outcome got = parse_bytewise(parser, text, into);
        why = parser.why();
        return got.progress;
    };
    refusal why = refusal::none;
    const auto head_of = [](std::size_t size) {
        std::string text = "GET / HTTP/1.1\r\nHost: a\r\nX: ";
        text.append(size - text.size() - 4, 'x').append("\r\n\r\n");
        return text;
    };

    CHECK(progress_of(head_of(256), why) == head_progress::complete);
    CHECK(progress_of(head_of(257), why) == head_progress::refused);
    CHECK(why == refusal::head_too_large);
    const std::string target(63, 'a');
    CHECK(progress_of("GET /" + target + " HTTP/1.1\r\nHost: a\r\n\r\n", why) ==
          head_progress::complete);
    CHECK(progress_of("GET /" + target + "a HTTP/1.1\r\nHost: a\r\n\r\n", why) ==
          head_progress::refused);
    CHECK(why == refusal::target_too_long);
    CHECK(progress_of(std::string(300, 'G'), why) == head_progress::refused);
    CHECK(why == refusal::target_too_long);
    CHECK(progress_of(get_with("A: 1\r\nB: 2\r\n"), why) == head_progress::complete);
    CHECK(progress_of(get_with("A: 1\r\nB: 2\r\nC: 3\r\n"), why) == head_progress::refused);
    CHECK(why == refusal::fields_too_many);
}

TEST_CASE("what was asked decides how the end of a response is found") {
    struct row {
        std::string head;
        method asked;
        body_framing::kind by;
        bool keeps_alive;
    };
    using kind = body_framing::kind;
    const std::vector<row> rows{
        {"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n", method::get, kind::length, true},
        {"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n", method::head, kind::none, true},
        {"HTTP/1.1 200\r\nTransfer-Encoding: chunked\r\n\r\n", method::get, kind::chunked, true},
        {"HTTP/1.1 200 OK\r\n\r\n", method::get, kind::until_close, false},
        {"HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\n", method::get, kind::length, false},
        {"HTTP/1.1 204 No\r\nContent-Length: 3\r\n\r\n", method::get, kind::none, true},
        {"HTTP/1.1 304 Same\r\nContent-Length: 3\r\n\r\n", method::get, kind::none, true},
        {"HTTP/1.1 100 Continue\r\n\r\n", method::post, kind::none, true},
        {"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n", method::connect, kind::none, true},
        // RFC 9110, 9.3.6: what opens a tunnel has no body, whatever it says.
        {"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
         method::connect, kind::none, true},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", method::connect, kind::none, true},
        {"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", method::connect, kind::none,
         false},
        // Of a response it means nothing.
        {"HTTP/1.1 200 OK\r\nExpect: more\r\nContent-Length: 3\r\n\r\n", method::get, kind::length,
         true}};
    for (const row& each : rows) {
        CAPTURE(each.head);
        head_parser parser;
        response into;
        REQUIRE(parser.parse_response(bytes_of(each.head), each.asked, into) ==
                head_progress::complete);
        CHECK(parser.framing().by == each.by);
        CHECK(parser.keeps_alive() == each.keeps_alive);
    }
}

TEST_CASE("malformed responses are refused") {
    const std::vector<std::string> heads{
        "HTTP/1.1 20 OK\r\n\r\n",
        "HTTP/1.1 2000 OK\r\n\r\n",
        "HTTP/1.1  200 OK\r\n\r\n",
        "HTTP/2.0 200 OK\r\n\r\n",
        "HTTP/1.1 099 OK\r\n\r\n",
        "HTTP/1.1 200 OK\nX: y\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX: y\r\n z\r\n\r\n"};
    for (const std::string& head : heads) {
        CAPTURE(head);
        head_parser parser;
        response into;
        CHECK(parser.parse_response(bytes_of(head), method::get, into) == head_progress::refused);
    }
    // What opens no tunnel has a body, also where one was asked for.
    const std::string refused =
        "HTTP/1.1 502 No\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n";
    head_parser parser;
    response into;
    CHECK(parser.parse_response(bytes_of(refused), method::connect, into) ==
          head_progress::refused);
}

namespace {

// All that a parser has told of a message.
std::string told_by(const head_parser& parser, head_progress progress, const fields& its_fields) {
    if (progress == head_progress::incomplete) return "incomplete";
    if (progress == head_progress::refused) return describe(parser.why());
    std::string told = std::to_string(parser.size());
    for (const std::uint64_t each :
         {static_cast<std::uint64_t>(parser.framing().by), parser.framing().length,
          static_cast<std::uint64_t>(parser.version()), std::uint64_t{parser.keeps_alive()},
          std::uint64_t{parser.expects_continue()}, std::uint64_t{parser.upgrades()}}) {
        told.append(" ").append(std::to_string(each));
    }
    for (const field each : its_fields)
        told.append("\n").append(each.name).append(": ").append(each.value);
    return told;
}

std::string request_told(head_parser& parser, std::string_view text, std::size_t piece) {
    request into;
    head_progress progress = head_progress::incomplete;
    for (std::size_t seen = 0; progress == head_progress::incomplete && seen < text.size();) {
        seen = std::min(text.size(), seen + piece);
        const std::string window{text.substr(0, seen)};
        progress = parser.parse_request(bytes_of(window), into);
    }
    std::string told = told_by(parser, progress, into.fields);
    if (progress != head_progress::complete) return told;
    for (const std::string_view each :
         {into.method_text(), into.target(), into.scheme(), into.authority()}) {
        told.append("\n").append(each);
    }
    return told;
}

std::string response_told(head_parser& parser, std::string_view text) {
    response into;
    const std::string window{text};
    const head_progress progress = parser.parse_response(bytes_of(window), method::get, into);
    return told_by(parser, progress, into.fields)
        .append(" ")
        .append(std::to_string(number_of(into.status)));
}

const std::vector<std::string> field_blocks{
    "Host: a\r\nAccept: */*\r\n\r\n",
    "Host: a\r\nAccept: */*\r\nX: " + std::string(1'100, 'x') + "\r\n\r\n",
    "Accept: */*\r\n\r\n",
    "\r\n",
    "Host: a\r\nHost: b\r\n\r\n",
    "Host: a b\r\n\r\n",
    "Host: a\r\nContent-Length: 5\r\n\r\n",
    "Host: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
    "Host: a\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n",
    "Host: a\r\nConnection: close\r\n\r\n",
    "Host: a\r\nExpect: more\r\n\r\n",
    "Host: a\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n",
    "Host: a\r\nAccept: */*\r\n",
    "Host: a\r\nAccept: */*\n\r\n",
};

}  // namespace

TEST_CASE("what is read of a message does not depend on the one before it") {
    const std::string starts[] = {
        "GET / HTTP/1.1\r\n",         "GET /b?c HTTP/1.1\r\n",
        "GET http://h/ HTTP/1.1\r\n", "GET / HTTP/1.0\r\n",
        "POST / HTTP/1.1\r\n",        "CONNECT h:1 HTTP/1.1\r\n",
        "OPTIONS * HTTP/1.1\r\n",     "get / HTTP/1.1\r\n",
        "FOO / HTTP/1.1\r\n",         "GET  / HTTP/1.1\r\n",
        "GET / HTTP/1.1 \r\n",        "GET /\x01 HTTP/1.1\r\n",
        "GET / HTTP/2.0\r\n",         "GET / HTTP/1.1\n",
        "\r\nGET / HTTP/1.1\r\n",     "GET /\r HTTP/1.1\r\n",
        "\xfeGET / HTTP/1.1\r\n",     "[GET / HTTP/1.1\r\n",
        " GET / HTTP/1.1\r\n",        "GET /" + std::string(300, 'a') + " HTTP/1.1\r\n",
    };
    const std::uint64_t seed = std::random_device{}();
    CAPTURE(seed);
    std::mt19937_64 dice{seed};
    const head_limits limits{1'200, 250, 4};
    head_parser used{limits};
    std::size_t read = 0;
    for (int round = 0; round < 20'000; ++round) {
        // Mostly the same again, as peers do.
        const std::string& block = field_blocks[dice() % 3 == 0 ? dice() % field_blocks.size() : 0];
        const std::string text = starts[dice() % std::size(starts)] + block;
        const std::size_t piece = dice() % 4 == 0 ? 1 + dice() % 40 : text.size();
        CAPTURE(text);
        head_parser fresh{limits};
        const std::string wanted = request_told(fresh, text, piece);
        CHECK(request_told(used, text, piece) == wanted);
        if (wanted.find(' ') != std::string::npos && wanted.front() >= '0' && wanted.front() <= '9')
            ++read;
        else used = head_parser{limits};
    }
    CHECK(read > 2'000);
}

TEST_CASE("what is read of a response does not depend on the one before it") {
    const std::string starts[] = {
        "HTTP/1.1 200 OK\r\n",  "HTTP/1.1 204 No Content\r\n", "HTTP/1.1 404\r\n",
        "HTTP/1.0 200 OK\r\n",  "HTTP/1.1 101 Switching\r\n",  "HTTP/1.1 2000 OK\r\n",
        "HTTP/1.1  200 OK\r\n", "HTTP/1.1 200 \x01\r\n",       "HTTP/3.0 200 OK\r\n",
    };
    const std::uint64_t seed = std::random_device{}();
    CAPTURE(seed);
    std::mt19937_64 dice{seed};
    head_parser used;
    for (int round = 0; round < 5'000; ++round) {
        const std::string& block = field_blocks[dice() % 3 == 0 ? dice() % field_blocks.size() : 0];
        const std::string text = starts[dice() % std::size(starts)] + block;
        CAPTURE(text);
        head_parser fresh;
        const std::string wanted = response_told(fresh, text);
        CHECK(response_told(used, text) == wanted);
        if (wanted.front() < '0' || wanted.front() > '9') used = head_parser{};
    }
}
