// SPDX-License-Identifier: BSL-1.0
//
// The set by which sleeping members are found.
#include <runtime/member_set.hpp>

#include <doctest/doctest.h>

#include <set>

using member_set = gyre::member_set<>;

TEST_CASE("a set of members gives back each one that was added, once") {
    member_set sleepers;
    CHECK(sleepers.empty());
    CHECK(sleepers.remove_any() == member_set::members_max);
    for (const unsigned each : {0U, 63U, 64U, 200U, 255U}) sleepers.add(each);
    sleepers.add(64);
    CHECK(sleepers.size() == 5);

    CHECK(sleepers.contains(200));
    CHECK(sleepers.remove(200));
    CHECK_FALSE(sleepers.contains(200));
    CHECK_FALSE(sleepers.remove(200));
    std::set<unsigned> found;
    for (int each = 0; each < 4; ++each) found.insert(sleepers.remove_any());

    CHECK(found == std::set<unsigned>{0, 63, 64, 255});
    CHECK(sleepers.empty());
}
