// SPDX-License-Identifier: BSL-1.0
#include <http2/response_head.hpp>

#include <doctest/doctest.h>

using namespace gyre;
using http2::response_head;

TEST_CASE("http2: a response has a status of a class that there is") {
    // RFC 9110, 15; RFC 9112, 4 takes the same.
    response_head head;
    CHECK_FALSE(head.finish());
    head.add(":status", "099");
    CHECK_FALSE(head.finish());
    head.add(":status", "103");
    CHECK(head.finish());
    CHECK(http::is_interim(head.status));
    head.add(":status", "404");
    head.add("a", "b");
    CHECK(head.finish());
    CHECK(head.status == http::status::not_found);
    CHECK(head.fields.value_or("a") == "b");
    CHECK_FALSE(head.fields.contains(":status"));
    head.fields.add("a", "line\nbreak");
    CHECK_FALSE(head.finish());
}
