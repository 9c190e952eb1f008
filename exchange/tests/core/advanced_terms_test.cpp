// SPDX-License-Identifier: BSL-1.0
//
// What exchange/core/advanced_terms.hpp promises: orders with a last day are found in the order in which they
// came, and only they.
#include <exchange/core/advanced_terms.hpp>

#include <doctest/doctest.h>

#include <vector>

using namespace exchange;

namespace {

std::vector<order_index> dated(const advanced_table& of) {
    std::vector<order_index> found;
    for (order_index at = of.first_dated(); at != 0; at = of[at].dated_next) found.push_back(at);
    return found;
}

}  // namespace

TEST_CASE("orders with a last day are listed as they came, and those that go are not") {
    advanced_table it{8};
    for (const order_index each : {5u, 2u, 8u, 1u}) it.link_dated(each);
    CHECK(dated(it) == std::vector<order_index>{5, 2, 8, 1});

    it.unlink_dated(2);
    CHECK(dated(it) == std::vector<order_index>{5, 8, 1});
    it.unlink_dated(5);
    it.unlink_dated(1);
    CHECK(dated(it) == std::vector<order_index>{8});
    it.link_dated(5);
    CHECK(dated(it) == std::vector<order_index>{8, 5});
    it.unlink_dated(8);
    it.unlink_dated(5);
    CHECK(dated(it).empty());
}
