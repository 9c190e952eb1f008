// SPDX-License-Identifier: BSL-1.0
//
// What gyre/http/authorization.hpp promises: credentials there and back, and who gets through.
#include <gyre/http/authorization.hpp>

#include <support/harness.hpp>

#include <string>

using namespace gyre;
using namespace gyre::http;
using namespace gyre::testing;

// RFC 4648, 10.
TEST_CASE("base64 is written and read in one form only") {
    const std::pair<const char*, const char*> pairs[] = {{"", ""},
                                                         {"f", "Zg=="},
                                                         {"fo", "Zm8="},
                                                         {"foo", "Zm9v"},
                                                         {"foob", "Zm9vYg=="},
                                                         {"fooba", "Zm9vYmE="},
                                                         {"foobar", "Zm9vYmFy"}};
    for (const auto& [plain, coded] : pairs) {
        CHECK(base64_encoded(plain) == coded);
        CHECK(base64_decoded(coded) == plain);
    }
    for (const char* bad :
         {"Z", "Zg=", "Zg", "Zh==", "Zm9=", "Z===", "====", "Zg==Zg==", "Z-8=", "Zm 8"}) {
        CAPTURE(bad);
        CHECK_FALSE(base64_decoded(bad));
    }
}

TEST_CASE("credentials are what they were, and of the scheme that was asked for") {
    fields of;
    set_basic_credentials(of, {"user", "pass:word"});
    const auto basic = basic_credentials_of(of);

    REQUIRE(basic);
    CHECK(basic->user == "user");
    CHECK(basic->password == "pass:word");
    CHECK_FALSE(bearer_token_of(of));
    set_bearer_token(of, "a.b-c");
    CHECK(bearer_token_of(of) == "a.b-c");
    CHECK_FALSE(basic_credentials_of(of));
    of.add("authorization", "Bearer other");
    CHECK_FALSE(bearer_token_of(of));
    fields refused;
    set_basic_credentials(refused, {"a:b", "c"});
    CHECK(refused.refused());
    for (const char* const token : {"", "a b", "a,b", "a\n"}) {
        CAPTURE(token);
        fields none;
        set_bearer_token(none, token);
        CHECK(none.refused());
        CHECK(none.empty());
    }
}

TEST_CASE("secrets are the same or not") {
    CHECK(equal_in_constant_time("abc", "abc"));
    CHECK(equal_in_constant_time("", ""));
    for (const char* other : {"", "a", "abd", "abcd", "ab"}) {
        CHECK_FALSE(equal_in_constant_time(other, "abc"));
    }
    CHECK_FALSE(equal_in_constant_time(std::string{"abc\0", 4}, "abc"));
}

// RFC 9110, 11.6.1.
TEST_CASE("who has no right credentials is asked for them") {
    on_every_backend([](io_context&) -> task<> {
        const handler inner = [](request&) {
            return []() -> task<response> { co_return response{status::ok}; }();
        };
        const handler basic = require_basic("r", [](const basic_credentials& given) {
            return given.user == "u" && equal_in_constant_time(given.password, "p");
        })(inner);
        const handler bearer =
            require_bearer("r", [](std::string_view token) { return token == "t"; })(inner);
        request what;

        const response none = co_await basic(what);
        set_basic_credentials(what.fields, {"u", "q"});
        const response wrong = co_await basic(what);
        set_basic_credentials(what.fields, {"u", "p"});
        const response right = co_await basic(what);
        const response other_scheme = co_await bearer(what);
        set_bearer_token(what.fields, "x");
        const response wrong_token = co_await bearer(what);
        set_bearer_token(what.fields, "t");
        const response right_token = co_await bearer(what);

        CHECK(none.status == status::unauthorized);
        CHECK(none.fields.find("www-authenticate") == "Basic realm=\"r\", charset=\"UTF-8\"");
        CHECK(wrong.status == status::unauthorized);
        CHECK(right.status == status::ok);
        CHECK(other_scheme.fields.find("www-authenticate") == "Bearer realm=\"r\"");
        CHECK(wrong_token.fields.find("www-authenticate") ==
              "Bearer realm=\"r\", error=\"invalid_token\"");
        CHECK(right_token.status == status::ok);
    });
}
