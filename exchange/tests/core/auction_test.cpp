// SPDX-License-Identifier: BSL-1.0
//
// What exchange/core/auction.hpp promises: an uncross in any steps is one event, and what a timer has
// to do is known. rules_of_auctions_test.cpp has the rules.
#include <exchange/core/auction.hpp>

#include <exchange/tests/support/trading_fixture.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

using namespace exchange;
using namespace exchange::testing;
using enum exchange::order_side;

namespace {

partition_limits in_steps_of(std::uint32_t work) {
    partition_limits limits = small_limits();
    limits.step_work_max = work;
    return limits;
}

/// Thirty orders on each side, all of which meet; two at the market.
void fill_book(trading_fixture& it) {
    define_instrument terms = any_instrument();
    terms.action = definition_action::change;
    terms.collar = 1'000;
    it.tell(terms);
    it.tell(set_phase{future, market_phase::opening_auction});
    for (price_ticks each = 1; each <= 30; ++each) {
        it.enter(1, buy, 3, 100 + each % 7);
        it.enter(2, sell, 2, 100 - each % 5, time_in_force::day);
    }
    for (const std::uint16_t each : {3, 4}) {
        enter_order at_market = it.limit_order(each, buy, 40, 0);
        at_market.type = order_type::market;
        it.tell(at_market);
    }
}

struct steps {
    std::size_t count = 0;
    std::size_t messages = 0;  // The most of one step.
    std::vector<std::string> all;
};

template <class Command>
steps carry_out(trading_fixture& it, const Command& what) {
    steps made;
    std::size_t told = 0;
    const auto take = [&](const event_batch& batch) {
        told += batch.events.size();
        for (const event& each : batch.events) made.all.push_back(describe(each));
    };
    const auto note = [&] {
        ++made.count;
        made.messages = std::max(made.messages, std::exchange(told, 0));
    };
    it.partition().begin(2'000'000'000, what, event_sink::to(take));
    note();
    while (it.partition().busy()) {
        it.partition().resume(event_sink::to(take));
        note();
    }
    return made;
}

}  // namespace

TEST_CASE("an uncross is the same event in one step and in many, each of which is short") {
    trading_fixture at_once;
    fill_book(at_once);
    const steps whole = carry_out(at_once, uncross{future});
    CHECK(whole.count == 1);

    for (const std::uint32_t work : {1u, 5u, 60u}) {
        trading_fixture it{in_steps_of(work)};
        fill_book(it);
        const steps made = carry_out(it, uncross{future});

        CHECK(made.all == whole.all);
        CHECK(made.count >= 30 * work_of_cross / (work + work_of_cross));  // Thirty trades.
        CHECK(made.messages <= work + 20);
    }
}

TEST_CASE("what an auction would trade is found in steps, too") {
    trading_fixture it{in_steps_of(2)};
    fill_book(it);

    const steps made = carry_out(it, it.limit_order(1, buy, 1, 106));

    CHECK(made.count > 2);
    CHECK(made.all.back().starts_with("indication i1"));
}

TEST_CASE("an uncross that trades nothing tells the phase alone") {
    trading_fixture it;
    it.tell(set_phase{future, market_phase::pre_open});
    it.enter(1, buy, 5, 99);
    it.enter(2, sell, 5, 101);

    it.tell(uncross{future});

    CHECK(it.lines() == std::vector<std::string>{"accepted 44 1", "phase i1 2"});
}

TEST_CASE("the end of an interruption is known, and the first of several") {
    trading_fixture it;
    constexpr timestamp_ns never = ~timestamp_ns{0};
    it.tell(any_instrument(instrument_id{2}));
    it.tell(set_phase{instrument_id{2}, market_phase::continuous});
    it.tell(set_interruption{future, 5, 1'000});
    it.tell(set_interruption{instrument_id{2}, 5, 100});
    CHECK(it.partition().next_phase_change() == never);
    const auto interrupt = [&](instrument_id in) {
        enter_order far = it.limit_order(1, sell, 1, 110);
        far.instrument = in;
        it.tell(far);
        enter_order order = it.limit_order(2, buy, 1, 110);
        order.instrument = in;
        it.tell(order);
        return it.stamps().back().time;
    };

    const timestamp_ns first = interrupt(future);
    CHECK(it.partition().next_phase_change() == first + 1'000);
    const timestamp_ns second = interrupt(instrument_id{2});
    CHECK(it.partition().next_phase_change() == second + 100);

    it.tell(advance_phases{});
    CHECK(it.lines() == std::vector<std::string>{"accepted 46 0"});
    it.wait(100);
    it.tell(advance_phases{});
    CHECK(std::ranges::count(it.lines(), "phase i2 2") == 1);
    CHECK(std::ranges::count(it.lines(), "phase i1 2") == 0);
    CHECK(it.partition().next_phase_change() == first + 1'000);
    it.wait(1'000);
    it.tell(advance_phases{});
    CHECK(std::ranges::count(it.lines(), "phase i1 2") == 1);
    CHECK(it.partition().next_phase_change() == never);
}

TEST_CASE("what a schedule says next is known, and of the past nothing") {
    trading_fixture it;
    constexpr timestamp_ns second = 1'000'000'000;
    it.tell(schedule_phase{future, market_phase::pre_open, 5});
    CHECK(it.partition().next_phase_change() == 5 * second);
    it.tell(schedule_phase{future, market_phase::continuous, 1});  // A moment ago.
    CHECK(it.partition().next_phase_change() == 5 * second);
    it.wait(5 * second);
    it.tell(advance_phases{});
    CHECK(it.lines().back() == "phase i1 5");
    CHECK(it.partition().next_phase_change() == (seconds_of_day + 1) * second);
    it.tell(schedule_phase{future, market_phase::pre_open, seconds_of_day});
    it.tell(schedule_phase{future, market_phase::continuous, seconds_of_day});
    it.wait(2 * seconds_of_day * second);
    it.tell(advance_phases{});
    CHECK(it.lines() == std::vector<std::string>{"accepted 46 0"});
    CHECK(it.partition().next_phase_change() == ~timestamp_ns{0});
}

TEST_CASE("an interruption without a time, or with one beyond all times, is not ended by a timer") {
    for (const timestamp_ns lasts : {timestamp_ns{0}, ~timestamp_ns{0}}) {
        trading_fixture it;
        it.tell(set_interruption{future, 5, lasts});
        it.enter(1, sell, 1, 110);
        it.enter(2, buy, 1, 110);
        REQUIRE(it.partition().state().markets[1].phase == market_phase::volatility_auction);
        CHECK(it.partition().next_phase_change() == ~timestamp_ns{0});

        it.wait(1'000'000'000'000);
        it.tell(advance_phases{});
        CHECK(it.lines() == std::vector<std::string>{"accepted 46 0"});
        it.tell(uncross{future});
        CHECK(it.lines().back() == "phase i1 2");
    }
}
