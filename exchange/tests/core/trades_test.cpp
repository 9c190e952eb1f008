// SPDX-License-Identifier: BSL-1.0
//
// What exchange/core/trades.hpp promises: the latest trades are found, sums follow days, and a trade
// can be undone.
#include <exchange/core/trades.hpp>

#include <exchange/tests/support/trading_fixture.hpp>

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <vector>

using namespace exchange;
using namespace exchange::testing;
using enum exchange::order_side;

namespace {

kept_trade trade_of(std::uint64_t id) {
    kept_trade made{};
    made.id = trade_id{id};
    made.quantity = 1;
    return made;
}

/// Session 1 buys from session 2.
void trade_once(trading_fixture& it, contracts quantity, price_ticks price) {
    it.enter(2, sell, quantity, price);
    it.enter(1, buy, quantity, price);
}

const day_sums& sums_of(trading_fixture& it, std::uint32_t account) {
    const venue& in = it.partition().state();
    return in.days[in.holdings.find(account_id{account}, 1)];
}

std::int64_t position_of(trading_fixture& it, std::uint32_t account) {
    const venue& in = it.partition().state();
    return in.holdings[in.holdings.find(account_id{account}, 1)].position;
}

partition_limits keeping(std::uint32_t trades) {
    partition_limits limits = small_limits();
    limits.trades_kept_max = trades;
    return limits;
}

}  // namespace

TEST_CASE("a trade is found until as many others have come as are kept") {
    trade_table table{3};
    const std::uint64_t first = numbers_of(2) + 1;
    CHECK(table.find(trade_id{first}) == nullptr);
    for (std::uint64_t each = first; each < first + 5; ++each) {
        table.keep(trade_of(each));
        REQUIRE(table.find(trade_id{each}) != nullptr);
        CHECK(table.find(trade_id{each})->id == trade_id{each});
    }
    CHECK(table.find(trade_id{first + 2})->id == trade_id{first + 2});
    CHECK(table.find(trade_id{first + 1}) == nullptr);
    CHECK(table.find(trade_id{first + 5}) == nullptr);
    CHECK(table.find(trade_id::none) == nullptr);
    CHECK(table.find(trade_id{first % 7}) == nullptr);
    CHECK(table.find(trade_id{std::numeric_limits<std::uint64_t>::max()}) == nullptr);
}

TEST_CASE("sums of a day begin anew with the first trade of another") {
    day_sums it{};
    it.add(0, buy, -5, 3);
    it.add(0, sell, price_ticks_max, ~contracts{0});
    it.add(0, sell, price_ticks_max, ~contracts{0});
    CHECK(it.values[number(buy)] == -15);
    CHECK(it.values[number(sell)] == 2 * trade_value{price_ticks_max} * ~contracts{0});
    CHECK(it.trades == 3);
    it.subtract(sell, price_ticks_max, ~contracts{0});
    it.subtract(sell, price_ticks_max, ~contracts{0});
    CHECK(it.net() == 3);
    CHECK(it.values[number(sell)] == 0);

    it.add(1, sell, 10, 2);

    CHECK(it.quantities[number(buy)] == 0);
    CHECK(it.values[number(sell)] == 20);
    CHECK(it.net() == -2);
    CHECK(it.trades == 1);
}

TEST_CASE("a bust tells both sides, the public and the sums, and nothing else") {
    trading_fixture it;
    trade_once(it, 5, 101);
    trade_once(it, 3, 99);

    it.tell(bust_trade{future, trade_id{1}});

    CHECK(it.lines() == std::vector<std::string>{
                            "accepted 47 1",
                            "busted 2.1 i1 a1 s1/1 buy 5@101 trade 1",
                            "busted 1.1 i1 a2 s2/1 sell 5@101 trade 1",
                            "trade busted 1 i1 5@101",
                            "volume i1 3 in 1",
                            "statistics i1 open 101 high 101 low 99 last 99 volume 3 in 1",
                        });
    CHECK(position_of(it, 1) == 3);
    CHECK(position_of(it, 2) == -3);
    CHECK(sums_of(it, 1).quantities[number(buy)] == 3);
    CHECK(sums_of(it, 1).values[number(buy)] == 3 * 99);
    CHECK(sums_of(it, 2).trades == 1);
}

TEST_CASE("only a trade of this day and market can be busted, and only once") {
    trading_fixture it{keeping(2)};
    const auto refused = [&](instrument_id in, std::uint64_t trade) {
        it.tell(bust_trade{in, trade_id{trade}});
        return it.refusal();
    };
    it.tell(any_instrument(instrument_id{2}));
    CHECK(refused(future, 1) == reject_reason::unknown_trade);
    for (int each = 0; each < 3; ++each) trade_once(it, 1, 100);

    CHECK(refused(instrument_id{3}, 3) == reject_reason::unknown_instrument);
    CHECK(refused(instrument_id{2}, 3) == reject_reason::unknown_trade);
    CHECK(refused(future, 1) == reject_reason::unknown_trade);
    CHECK(refused(future, 4) == reject_reason::unknown_trade);
    CHECK(refused(future, 0) == reject_reason::unknown_trade);
    CHECK(refused(future, 2) == reject_reason::none);
    CHECK(refused(future, 2) == reject_reason::already_busted);
    it.tell(end_day{future});
    CHECK(refused(future, 3) == reject_reason::unknown_trade);
    it.tell(retire{definition_kind::instrument, 1});
    CHECK(refused(future, 3) == reject_reason::out_of_use);
    CHECK(position_of(it, 1) == 2);
}

TEST_CASE("a day of sums lasts until its market is opened again") {
    trading_fixture it;
    trade_once(it, 5, 101);
    const auto is_current = [&] {
        return sums_of(it, 1).day == it.partition().state().markets[1].cycle.day;
    };
    it.tell(set_phase{future, market_phase::closed});
    it.tell(end_day{future});
    CHECK(is_current());
    it.tell(end_day{future});
    CHECK(is_current());

    it.tell(set_phase{future, market_phase::halted});
    CHECK_FALSE(is_current());

    it.tell(set_phase{future, market_phase::continuous});
    trade_once(it, 2, 101);
    CHECK(is_current());
    CHECK(sums_of(it, 1).quantities[number(buy)] == 2);
    it.tell(end_day{future});  // Of a market that never closes.
    CHECK_FALSE(is_current());
}
