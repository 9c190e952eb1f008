// SPDX-License-Identifier: BSL-1.0
//
// What gyre/http/cookies.hpp promises: cookies read from lists, set safely, and not split.
#include <gyre/http/cookies.hpp>

#include <support/harness.hpp>

#include <string>

using namespace gyre;
using namespace gyre::http;
using namespace std::chrono_literals;

TEST_CASE("a cookie is found by its name, first come") {
    fields of;
    of.add("cookie", "a=1; bb=\"2\"; a=3;c").add("Cookie", "d=4=5; e=");

    CHECK(cookie_value(of, "a") == "1");
    CHECK(cookie_value(of, "bb") == "2");
    CHECK(cookie_value(of, "d") == "4=5");
    CHECK(cookie_value(of, "e") == "");
    CHECK_FALSE(cookie_value(of, "c"));
    CHECK_FALSE(cookie_value(of, "A"));
    CHECK_FALSE(cookie_value(of, "b"));
}

TEST_CASE("a cookie is safe unless it is said otherwise") {
    fields of;
    cookie plain;
    plain.name = "id";
    plain.value = "x";
    set_cookie(of, plain);
    cookie wide = plain;
    wide.domain = "example.org";
    wide.lives = 60s;
    wide.for_http_only = wide.for_secure_only = false;
    wide.with = same_site::none;
    set_cookie(of, wide);

    CHECK(of.count("set-cookie") == 2);
    CHECK((*of.begin()).value == "id=x; Path=/; Secure; HttpOnly; SameSite=Lax");
    CHECK((*++of.begin()).value ==
          "id=x; Path=/; Domain=example.org; Max-Age=60; Secure; SameSite=None");
}

TEST_CASE("what no cookie may have is refused") {
    for (const auto& [name, value, path] : {std::tuple{"a b", "x", "/"},
                                            {"", "x", "/"},
                                            {"a", "x;y", "/"},
                                            {"a", "x y", "/"},
                                            {"a", "x\r\ny", "/"},
                                            {"a", "x", "/;Domain=evil"},
                                            {"a", "x", "/\n"}}) {
        fields of;
        cookie bad;
        bad.name = name;
        bad.value = value;
        bad.path = path;
        set_cookie(of, bad);

        CHECK(of.refused());
        CHECK(of.empty());
    }
}
