// SPDX-License-Identifier: BSL-1.0
//
// What exchange/core/accounts.hpp promises: an account's orders in their order, its holdings, its rate.
#include <exchange/core/accounts.hpp>

#include <doctest/doctest.h>

#include <array>
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

TEST_CASE("an order is in its account's list from when it is linked until it is not any more") {
    order_slab orders{8};
    account it{};
    std::array<order_index, 5> came{};
    for (order_index& each : came) {
        each = orders.take();
        CHECK_FALSE(is_linked(it, orders, each));
        orders[each].open = 1;
        link_order(it, orders, each);
        CHECK(is_linked(it, orders, each));
    }

    // A place whose tenant has gone says what stood beside it, whatever becomes of those.
    for (const std::size_t gone : {0u, 4u, 2u, 1u, 3u}) {
        unlink_order(it, orders, came[gone]);
        for (const order_index each : came) {
            bool listed = false;
            for (order_index at = it.first_order; at != 0; at = orders[at].account_next)
                listed = listed || at == each;
            CHECK(is_linked(it, orders, each) == listed);
        }
    }
    CHECK(orders.end() == 6);
}

TEST_CASE(
    "a rested account sends a burst at once, and then one message for each share of a second") {
    const message_rate rate{.per_second_max = 4, .burst_max = 2};
    timestamp_ns occupied_until = 0;
    const timestamp_ns begin = 5'000'000'000;

    CHECK(let_through(occupied_until, rate, begin));
    CHECK(let_through(occupied_until, rate, begin));
    CHECK_FALSE(let_through(occupied_until, rate, begin));
    CHECK_FALSE(let_through(occupied_until, rate, begin + 249'999'999));
    CHECK(let_through(occupied_until, rate, begin + 250'000'000));
    CHECK_FALSE(let_through(occupied_until, rate, begin + 250'000'000));
    CHECK(let_through(occupied_until, rate, begin + 1'000'000'000));
    CHECK(let_through(occupied_until, rate, begin + 1'000'000'000));
    CHECK_FALSE(let_through(occupied_until, rate, begin + 1'000'000'000));
}

TEST_CASE(
    "a burst that is not given is that of a second, and never more in any second and its rest") {
    const message_rate rate{.per_second_max = 2, .burst_max = 0};
    timestamp_ns occupied_until = 0;

    CHECK(let_through(occupied_until, rate, 100));
    CHECK(let_through(occupied_until, rate, 100));
    CHECK_FALSE(let_through(occupied_until, rate, 499'999'999));
    CHECK(let_through(occupied_until, rate, 500'000'100));
    CHECK_FALSE(let_through(occupied_until, rate, 500'000'101));
}

TEST_CASE("rates at their limits neither divide by zero nor overflow") {
    timestamp_ns none = 0, fastest = 0, huge = 0;
    constexpr std::uint32_t most = 0xffff'ffff;
    constexpr timestamp_ns late = 0x7fff'ffff'ffff'ffff;

    for (int each = 0; each < 1'000; ++each) {
        REQUIRE(let_through(none, {0, 0}, late));
        REQUIRE(let_through(fastest, {most, 0}, late));
        REQUIRE(let_through(huge, {1, most}, late));
    }
    CHECK(none == 0);
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
