// SPDX-License-Identifier: BSL-1.0
//
// For whom a gateway may speak.
#include <exchange/net/application/known_gateway.hpp>

#include <doctest/doctest.h>

using namespace exchange;

TEST_CASE("a gateway speaks for the users that are named, or for all if none is") {
    known_gateway it{"gw1", "secret", {"alice", "bob"}};
    CHECK(it.may_speak_for("alice"));
    CHECK(it.may_speak_for("bob"));
    CHECK_FALSE(it.may_speak_for("carol"));
    CHECK_FALSE(it.may_speak_for("ali"));
    CHECK_FALSE(it.may_speak_for(""));

    it.users.clear();
    CHECK(it.may_speak_for("carol"));
}
