// SPDX-License-Identifier: BSL-1.0
#include <http2/request_head.hpp>

#include <doctest/doctest.h>

#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>

using namespace gyre;
using http2::request_head;

namespace {

using texts = std::initializer_list<std::pair<std::string_view, std::string_view>>;

std::optional<http::status> finished(http::request& into, texts fields) {
    request_head head;
    for (const auto& [name, value] : fields) head.add(into, name, value);
    return head.finish(into);
}

std::optional<http::status> finished(texts fields) {
    http::request into;
    return finished(into, fields);
}

}  // namespace

TEST_CASE("http2: a head becomes the request that HTTP/1 would have made of it") {
    // RFC 9113, 8.3.1 and 8.2.3.
    http::request into;
    CHECK_FALSE(finished(into, {{":method", "GET"},
                                {":scheme", "HTTPS"},
                                {":path", "/a?b"},
                                {":authority", "H:1"},
                                {"cookie", "a=1"},
                                {"host", "h:1"},
                                {"cookie", "b=2"},
                                {"cookie", ""}}));
    CHECK(into.method() == http::method::get);
    CHECK(into.target() == "/a?b");
    CHECK(into.authority() == "H:1");
    CHECK(into.version() == http::version::http_2);
    CHECK(into.fields.value_or("cookie") == "a=1; b=2");

    into.clear();
    CHECK_FALSE(finished(into, {{":method", "OPTIONS"}, {":path", "*"}, {"host", "h"}}));
    CHECK(into.authority() == "h");
    into.clear();
    CHECK_FALSE(finished(into, {{":method", "CONNECT"}, {":authority", "h:443"}}));
    CHECK(into.target() == "h:443");
}

TEST_CASE("http2: a head that HTTP/1 would refuse is malformed") {
    // RFC 9113, 8.1.1; RFC 9112, 3.2; RFC 9110, 4.2.4 and 9.3.6.
    const auto is_malformed = [](texts fields) {
        return finished(fields) == http::status::bad_request;
    };
    for (const std::string_view path :
         {"/a#b", "/?a#b", "/\\a", "/%zz", "/a b", "/\"", "http://h/", "h", "*", ""}) {
        CAPTURE(path);
        CHECK(is_malformed({{":method", "GET"}, {":path", path}, {":authority", "h"}}));
    }
    for (const std::string_view host : {"u@h", "h/a", "h#a", "h?a", "h:x", ":80", "[::1", "h%41"}) {
        CAPTURE(host);
        CHECK(is_malformed({{":method", "GET"}, {":path", "/"}, {":authority", host}}));
        CHECK(is_malformed({{":method", "GET"}, {":path", "/"}, {"host", host}}));
    }
    CHECK(is_malformed({{":method", "GET"}, {":path", "/"}, {":authority", "h"}, {"host", "i"}}));
    CHECK(is_malformed({{":method", "GET"}, {":path", "/"}, {"host", "h"}, {"host", "h"}}));
    CHECK(is_malformed({{":method", "G T"}, {":path", "/"}, {"host", "h"}}));
    CHECK(is_malformed({{":method", "GET"}, {":scheme", "ftp"}, {":path", "/"}, {"host", "h"}}));
    CHECK(is_malformed({{":method", "CONNECT"}, {":authority", "h"}}));
    CHECK(is_malformed({{":method", "CONNECT"}, {":authority", ""}}));
}

TEST_CASE("http2: each expectation is looked at, not only the first") {
    // RFC 9110, 10.1.1.
    http::request into;
    request_head head;
    head.add(into, ":method", "GET");
    head.add(into, ":path", "/");
    head.add(into, ":authority", "h");
    head.add(into, "expect", "100-Continue");
    CHECK_FALSE(head.finish(into));
    CHECK(head.expects_continue());
    head.add(into, "expect", "tea");
    CHECK(head.finish(into) == http::status::expectation_failed);
    head.clear();
    CHECK_FALSE(head.expects_continue());
}
