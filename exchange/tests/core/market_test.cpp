// SPDX-License-Identifier: BSL-1.0
//
// What exchange/core/market.hpp promises: what a phase allows, and what a day's trades add up to.
#include <exchange/core/market.hpp>

#include <doctest/doctest.h>

using namespace exchange;

TEST_CASE("continuous trading and auctions let orders in, and each other phase says why not") {
    for (const market_phase open :
         {market_phase::continuous, market_phase::pre_open, market_phase::opening_auction,
          market_phase::closing_auction, market_phase::volatility_auction})
        CHECK(allows_entry(open) == reject_reason::none);
    CHECK(allows_entry(market_phase::closed) == reject_reason::market_closed);
    CHECK(allows_entry(market_phase::halted) == reject_reason::market_halted);
    CHECK(allows_entry(market_phase{77}) == reject_reason::market_closed);
}

TEST_CASE("orders are collected in the phases of an auction, and in no other") {
    for (std::uint8_t each = 0; each < 20; ++each)
        CHECK(is_collecting(market_phase{each}) == (each >= 5 && each <= 8));
}

TEST_CASE("the first trade opens the day, and later ones move its ends") {
    market_statistics day{};

    count_trade(day, -10, 5);
    CHECK(day.open == -10);
    CHECK(day.high == -10);
    CHECK(day.low == -10);
    count_trade(day, -30, 1);
    count_trade(day, -5, 4);

    CHECK(day.open == -10);
    CHECK(day.high == -5);
    CHECK(day.low == -30);
    CHECK(day.last == -5);
    CHECK(day.volume == 10);
    CHECK(day.trades == 3);
}

TEST_CASE(
    "a trigger is passed by the last trade at it or beyond, and by none before the first trade") {
    market_statistics day{};
    CHECK_FALSE(has_passed(day, order_side::buy, -100));
    CHECK_FALSE(has_passed(day, order_side::sell, 100));
    count_trade(day, 12, 1);
    count_trade(day, 10, 1);

    CHECK(has_passed(day, order_side::buy, 10));
    CHECK_FALSE(has_passed(day, order_side::buy, 11));
    CHECK(has_passed(day, order_side::sell, 10));
    CHECK_FALSE(has_passed(day, order_side::sell, 9));
}
