// SPDX-License-Identifier: BSL-1.0
#include <gyre/http/request_target.hpp>

#include <doctest/doctest.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>

using namespace gyre::http;
using form = target_parts::form;

// RFC 3986, 3.2; RFC 9110, 4.2.
TEST_CASE("an authority is a host and perhaps a port, and what is anything else is refused") {
    struct example {
        const char* text;
        const char* host;
        const char* port;
        bool is_bracketed;
    };
    static constexpr std::array taken{
        example{"h", "h", "", false},
        example{"a_b.example-1.org:8080", "a_b.example-1.org", "8080", false},
        example{"192.0.2.1:1", "192.0.2.1", "1", false},
        example{"h:", "h", "", false},
        example{"h:65535", "h", "65535", false},
        example{"[::1]", "::1", "", true},
        example{"[::]:80", "::", "80", true},
        example{"[1:2:3:4:5:6:7:8]", "1:2:3:4:5:6:7:8", "", true},
        example{"[2001:DB8::a:192.0.2.255]:443", "2001:DB8::a:192.0.2.255", "443", true},
        example{"[1::]", "1::", "", true},
    };
    for (const example& each : taken) {
        CAPTURE(each.text);
        const std::optional<authority_parts> read = read_authority(each.text);
        REQUIRE(read);
        CHECK(read->host == each.host);
        CHECK(read->port == each.port);
        CHECK(read->is_bracketed == each.is_bracketed);
    }
    static constexpr std::array refused{"",
                                        ":80",
                                        "h:0",
                                        "h:65536",
                                        "h:8x",
                                        "h:-1",
                                        "h:80:80",
                                        "u@h",
                                        "a b",
                                        "h/",
                                        "h?q",
                                        "h#f",
                                        "h\\x",
                                        "h%41",
                                        "h%",
                                        "h!",
                                        "(h)",
                                        "h,i",
                                        "[",
                                        "[]",
                                        "[::1",
                                        "[::1]x",
                                        "[::1]:x",
                                        "[1.2.3.4]",
                                        "[:::]",
                                        "[1::2::3]",
                                        "[1:2:3]",
                                        "[12345::]",
                                        "[::1%25eth0]",
                                        "[v1.x]",
                                        "[1:]",
                                        "[:1]",
                                        "[::1.2.3]",
                                        "[::1.2.3.256]",
                                        "[::01.2.3.4]",
                                        "[1:2:3:4:5:6:7:8:9]",
                                        "[::1:2:3:4:5:6:7:8]",
                                        "\xc3\xa4"};
    for (const char* const each : refused) {
        CAPTURE(each);
        CHECK_FALSE(is_authority(each));
    }
    CHECK_FALSE(is_authority(std::string_view{"h\0i", 3}));
    CHECK(is_authority(std::string(253, 'a')));
    CHECK_FALSE(is_authority(std::string(254, 'a')));
}

// RFC 3986, 3.3 and 3.4.
TEST_CASE(
    "a path has whole escapes and no fragment, and a query any visible character but its sign") {
    static constexpr std::array taken{
        "/",        "//", "/a/b;c=d/../e", "/a%20b%Ff", "/-._~!$&'()*+,;=:@",
        "/[]|^`{}", "/?", "/a?b?c/d",      "/?q=100%",  "/?path=C:\\dir&q={\"a\"}<>",
        "/?%zz"};
    for (const char* const each : taken) {
        CAPTURE(each);
        CHECK(is_path_and_query(each));
    }
    static constexpr std::array refused{
        "",     "a",    "?a",   "*",     "/a#b", "/#",        "/?a#b",      "/a b",   "/?a b",
        "/\ta", "/\\a", "/a\\", "/\"",   "/<",   "/>",        "/%",         "/%4",    "/%zz",
        "/%4?", "/%?4", "/%%",  "/\x7f", "/\r",  "/\xc3\xa4", "/?\xc3\xa4", "/?\x1f", " /"};
    for (const char* const each : refused) {
        CAPTURE(each);
        CHECK_FALSE(is_path_and_query(each));
    }
    CHECK_FALSE(is_path_and_query(std::string_view{"/\0", 2}));
}

// RFC 9112, 3.2.
TEST_CASE("each form of a target belongs to its methods") {
    CHECK(read_target(method::get, "/a?b")->as == form::origin);
    CHECK(read_target(method::get, "/a?b")->path_and_query == "/a?b");
    CHECK(read_target(method::options, "*")->as == form::asterisk);
    CHECK(read_target(method::connect, "h:443")->as == form::authority);
    CHECK(read_target(method::connect, "[::1]:443")->authority == "[::1]:443");
    const std::optional<target_parts> absolute = read_target(method::other, "HTTPS://h:1?q");
    REQUIRE(absolute);
    CHECK(absolute->as == form::absolute);
    CHECK(absolute->scheme == "https");
    CHECK(absolute->authority == "h:1");
    CHECK(absolute->path_and_query == "?q");
    CHECK(read_target(method::get, "http://h")->path_and_query.empty());

    CHECK_FALSE(read_target(method::get, "*"));
    CHECK_FALSE(read_target(method::options, "**"));
    CHECK_FALSE(read_target(method::get, "h:443"));
    CHECK_FALSE(read_target(method::get, "ftp://h/"));
    CHECK_FALSE(read_target(method::get, "http:///a"));
    CHECK_FALSE(read_target(method::get, "http://u@h/"));
    CHECK_FALSE(read_target(method::get, "http://h/a#b"));
    CHECK_FALSE(read_target(method::get, "http://h?a#b"));
    CHECK_FALSE(read_target(method::get, "http://h#b"));
    CHECK_FALSE(read_target(method::get, "http://h\\a"));
    // RFC 9110, 9.3.6: a server must refuse a tunnel to no port.
    CHECK_FALSE(read_target(method::connect, "h"));
    CHECK_FALSE(read_target(method::connect, "h:"));
    CHECK_FALSE(read_target(method::connect, ":443"));
    CHECK_FALSE(read_target(method::connect, "/"));
    CHECK_FALSE(read_target(method::connect, "http://h:1/"));
}
