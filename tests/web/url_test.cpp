// SPDX-License-Identifier: BSL-1.0
//
// What gyre/web/url.hpp takes, what it refuses, and what references mean.
#include <gyre/web/url.hpp>

#include <doctest/doctest.h>

#include <array>
#include <string>

using namespace gyre;
using web::url;

TEST_CASE("a URL is taken apart, and put together as it is meant") {
    struct example {
        const char* text;
        const char* host;
        int port;
        const char* target;
        const char* again;
    };
    static constexpr std::array examples{
        example{"http://h", "h", 80, "/", "http://h/"},
        example{"HTTPS://Example.ORG/A%20b?c=d#e", "example.org", 443, "/A%20b?c=d",
                "https://example.org/A%20b?c=d"},
        example{"http://h:80/", "h", 80, "/", "http://h/"},
        example{"http://h:/x", "h", 80, "/x", "http://h/x"},
        example{"https://h:8443/x", "h", 8443, "/x", "https://h:8443/x"},
        example{"http://h?q", "h", 80, "/?q", "http://h/?q"},
        example{"http://[::1]:81/x", "::1", 81, "/x", "http://[::1]:81/x"},
        example{"https://[2001:DB8::1]/", "2001:db8::1", 443, "/", "https://[2001:db8::1]/"},
        example{"ws://h/chat", "h", 80, "/chat", "ws://h/chat"},
        example{"wss://h/chat", "h", 443, "/chat", "wss://h/chat"},
        // A query is the client's own: what a server takes, a forwarder can ask for.
        example{"http://h/?q=100%&p=C:\\d", "h", 80, "/?q=100%&p=C:\\d",
                "http://h/?q=100%&p=C:\\d"},
        example{"http://h/a?b?c/d", "h", 80, "/a?b?c/d", "http://h/a?b?c/d"},
    };
    for (const example& each : examples) {
        CAPTURE(each.text);
        const io_result<url> read = url::parse(each.text);
        REQUIRE(read.ok());
        const url& it = read.value();
        CHECK(it.host() == each.host);
        CHECK(it.port() == each.port);
        CHECK(it.target() == each.target);
        CHECK(it.to_string() == each.again);
        CHECK(url::parse(it.to_string()).value() == it);
    }
}

TEST_CASE("what two programs could read differently is no URL") {
    static constexpr std::array refused{
        "",
        "h",
        "/a",
        "//h/a",
        "http:",
        "http:/h",
        "http:h",
        "http://",
        "http:///a",
        "://h/",
        "http://user@h/",
        "http://user:pass@h/",
        "http://a@b@c/",
        "http://h:99999/",
        "http://h:0/",
        "http://h:8x/",
        "http://h:-1/",
        "http://h /",
        "http://h/a b",
        "http://h/a\tb",
        "http://h/a\r\nhost: x",
        "http://h\\@x/",
        "http://h/\\x",
        "http://[::1/",
        "http://[::1]x/",
        "http://[fe80::1%25eth0]/",
        "http://[1.2.3.4]/",
        "http://:80/",
        "http://h%41/",
        "http://h/%",
        "http://h/%4",
        "http://h/%zz",
        "http://h/\x80",
        "http://h\"/",
        "1http://h/",
        "http ://h/",
    };
    for (const char* const each : refused) {
        CAPTURE(each);
        CHECK(url::parse(each).error() == errc::malformed);
    }
    CHECK(url::parse("ftp://h/").error() == errc::not_supported);
    CHECK(url::parse("javascript:alert(1)").error() == errc::not_supported);
    CHECK(url::parse("http://" + std::string(254, 'a') + "/").error() == errc::malformed);
}

// RFC 3986, 5.4, as far as it is about schemes of ours.
TEST_CASE("references mean what the standard's examples say") {
    const url base = url::parse("http://a/b/c/d;p?q").take();
    struct example {
        const char* reference;
        const char* means;
    };
    static constexpr std::array examples{
        example{"g", "http://a/b/c/g"},
        example{"./g", "http://a/b/c/g"},
        example{"g/", "http://a/b/c/g/"},
        example{"/g", "http://a/g"},
        example{"//g", "http://g/"},
        example{"?y", "http://a/b/c/d;p?y"},
        example{"g?y", "http://a/b/c/g?y"},
        example{"#s", "http://a/b/c/d;p?q"},
        example{"g#s", "http://a/b/c/g"},
        example{";x", "http://a/b/c/;x"},
        example{"", "http://a/b/c/d;p?q"},
        example{".", "http://a/b/c/"},
        example{"./", "http://a/b/c/"},
        example{"..", "http://a/b/"},
        example{"../", "http://a/b/"},
        example{"../g", "http://a/b/g"},
        example{"../..", "http://a/"},
        example{"../../g", "http://a/g"},
        example{"../../../g", "http://a/g"},
        example{"../../../../g", "http://a/g"},
        example{"/./g", "http://a/g"},
        example{"/../g", "http://a/g"},
        example{"g.", "http://a/b/c/g."},
        example{"..g", "http://a/b/c/..g"},
        example{"./../g", "http://a/b/g"},
        example{"./g/.", "http://a/b/c/g/"},
        example{"g/./h", "http://a/b/c/g/h"},
        example{"g/../h", "http://a/b/c/h"},
        example{"g?y/../x", "http://a/b/c/g?y/../x"},
        example{"https://z/y", "https://z/y"},
    };
    for (const example& each : examples) {
        CAPTURE(each.reference);
        const io_result<url> meant = base.resolved(each.reference);
        REQUIRE(meant.ok());
        CHECK(meant.value().to_string() == each.means);
    }
    CHECK(base.resolved("mailto:x").error() == errc::not_supported);
    CHECK(base.resolved("//user@h/").error() == errc::malformed);
    CHECK(base.resolved("a b").error() == errc::malformed);
}

TEST_CASE("an origin is scheme, host and port") {
    const url it = url::parse("https://h/a").take();
    CHECK(it.same_origin(url::parse("https://H:443/b?c").take()));
    CHECK_FALSE(it.same_origin(url::parse("http://h/a").take()));
    CHECK_FALSE(it.same_origin(url::parse("https://h:444/a").take()));
    CHECK_FALSE(it.same_origin(url::parse("https://h.h/a").take()));
}
