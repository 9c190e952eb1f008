// SPDX-License-Identifier: BSL-1.0
//
// What gyre/http/form.hpp and percent.hpp promise: forms there and back, and parameters of fields.
#include <gyre/http/form.hpp>
#include <gyre/http/percent.hpp>

#include <support/harness.hpp>

#include <string>

using namespace gyre;
using namespace gyre::http;

TEST_CASE("escapes are decoded, incomplete ones and encoded NULs are malformed") {
    CHECK(percent_decoded("a%20b%C3%A4+c").value() == "a b\xc3\xa4+c");
    CHECK(percent_decoded("a+b", plus_sign::is_space).value() == "a b");
    for (const std::string_view bad : {"%", "%2", "%g0", "%0g", "%00", "a%%20"}) {
        CAPTURE(bad);
        CHECK(percent_decoded(bad).error() == errc::malformed);
    }
    std::string all;
    for (int byte = 1; byte < 256; ++byte) all.push_back(static_cast<char>(byte));
    CHECK(percent_decoded(percent_encoded(all)).value() == all);
}

TEST_CASE("a form is what it was before it was encoded") {
    form sent;
    sent.add("a b", "1&2=3").add("", "empty name").add("c", "").add("a b", "again");

    const io_result<form> got = form::parse(sent.encoded());

    REQUIRE(got.ok());
    REQUIRE(got.value().pairs().size() == 4);
    CHECK(got.value().find("a b") == "1&2=3");
    CHECK(got.value().find("c") == "");
    CHECK(got.value().pairs()[3].value == "again");
    CHECK_FALSE(got.value().find("d"));
    CHECK(form::parse("a=%zz").error() == errc::malformed);
    CHECK(form::parse("a&b&c", 2).error() == errc::limit_exceeded);
    CHECK(form::parse("&&a=1&&", 1).value().find("a") == "1");
}

// RFC 9110, 5.6.6.
TEST_CASE("a parameter is found behind quotes and semicolons in quotes") {
    CHECK(parameter_of("text/html; charset=utf-8", "Charset") == "utf-8");
    CHECK(parameter_of("form-data; name=\"a;b\\\"c\"; x=y", "name") == "a;b\"c");
    CHECK(parameter_of("form-data; name=\"a;b\\\"c\"; x=y", "x") == "y");
    CHECK_FALSE(parameter_of("charset=utf-8", "charset"));
    CHECK_FALSE(parameter_of("a; b", "b"));
    CHECK(parameter_of("a; b=\"", "b") == "\"");
}
