// SPDX-License-Identifier: BSL-1.0
//
// What exchange/bench/due_levels.hpp promises.
#include <exchange/bench/due_levels.hpp>

#include <doctest/doctest.h>

#include <memory>

using namespace exchange;
using namespace exchange::bench;
using namespace std::chrono_literals;

TEST_CASE("a level tells how long ago its order was due") {
    const auto levels = std::make_unique<due_levels>();
    const gyre::time_point due{5s};

    const price_ticks price = levels->note(7, due);

    CHECK(price == due_levels::first_price + 7);
    CHECK(levels->since(price, due + 3us) == 3us);
    CHECK(levels->since(price, due) == 0us);
}

TEST_CASE("a price that no order had, before or behind them all, tells nothing") {
    const auto levels = std::make_unique<due_levels>();
    const price_ticks price = levels->note(0, gyre::time_point{5s});

    CHECK_FALSE(levels->since(price - 1, gyre::time_point{6s}));
    CHECK_FALSE(levels->since(price + 1, gyre::time_point{6s}));
    CHECK_FALSE(levels->since(price + due_levels::prices, gyre::time_point{6s}));
}

TEST_CASE("a price comes again, and then speaks of the later order") {
    const auto levels = std::make_unique<due_levels>();
    const price_ticks first = levels->note(3, gyre::time_point{5s});

    const price_ticks again = levels->note(3 + due_levels::prices, gyre::time_point{9s});

    CHECK(again == first);
    CHECK(levels->since(again, gyre::time_point{10s}) == 1s);
}
