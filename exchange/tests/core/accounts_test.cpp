// SPDX-License-Identifier: BSL-1.0
//
// What exchange/core/accounts.hpp promises: an account's orders in their order, its holdings, its rate.
#include <exchange/core/accounts.hpp>

#include <doctest/doctest.h>

#include <vector>

using namespace exchange;

TEST_CASE("an account lists its orders as they came, whichever leave") {
    order_slab orders{8};
    account it{};
    std::vector<order_index> came;
    for (int each = 0; each < 4; ++each) {
        came.push_back(orders.take());
        link_order(it, orders, came.back());
    }

    unlink_order(it, orders, came[1]);
    unlink_order(it, orders, came[3]);

    std::vector<order_index> listed;
    for (order_index at = it.first_order; at != 0; at = orders[at].account_next) {
        listed.push_back(at);
    }
    CHECK(listed == std::vector{came[0], came[2]});
    CHECK(it.last_order == came[2]);
    CHECK(it.open_orders == 2);
}

TEST_CASE("a second lets so many messages through and no more, then a new one begins") {
    account it{};
    it.terms.messages_per_second_max = 2;
    const timestamp_ns begin = 5'000'000'000;

    CHECK(count_message(it, begin));
    CHECK(count_message(it, begin + 999'999'998));
    CHECK_FALSE(count_message(it, begin + 999'999'999));
    CHECK(count_message(it, begin + 1'000'000'000));
}

TEST_CASE("a holding is one per account and market, and is found again") {
    holding_table table{100};
    std::vector<holding_index> made;
    for (std::uint32_t each = 0; each < 100; ++each) {
        const account_id account{1 + each % 10};
        const auto market = static_cast<std::uint16_t>(1 + each / 10);
        REQUIRE(table.find(account, market) == 0);
        REQUIRE(table.has(1));
        made.push_back(table.make(account, market));
    }

    for (std::uint32_t each = 0; each < 100; ++each) {
        const account_id account{1 + each % 10};
        const auto market = static_cast<std::uint16_t>(1 + each / 10);
        REQUIRE(table.find(account, market) == made[each]);
        REQUIRE(table[made[each]].account == account);
        REQUIRE(table[made[each]].market == market);
    }
    CHECK_FALSE(table.has(1));
    CHECK(table.find(account_id{11}, 1) == 0);
}
