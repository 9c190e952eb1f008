// SPDX-License-Identifier: BSL-1.0
//
// The rules about auctions, interruptions and busts, each once more by hand, message for message, of
// core and model alike. rules_test.cpp says why; auction_price_test.cpp has the rules of the price.
#include <exchange/tests/support/judged_fixture.hpp>

#include <doctest/doctest.h>

using namespace exchange;
using namespace exchange::testing;
using enum exchange::order_side;

namespace {

/// The future in this phase; its collar is wide, so that orders at the market may wait.
judged_fixture::lines begin(judged_fixture& it, market_phase phase) {
    define_instrument terms = changed_future();
    terms.collar = 50;
    it.tell(terms);
    return it.tell(set_phase{future, phase});
}

}  // namespace

// ---------------------------------------------------------------------------------------------
// Collecting
// ---------------------------------------------------------------------------------------------

TEST_CASE("in an auction sides overlap, and each change of what would trade is told once") {
    for (const market_phase phase :
         {market_phase::pre_open, market_phase::opening_auction, market_phase::closing_auction}) {
        judged_fixture it;
        begin(it, phase);
        it.both_say(it.order(1, buy, 5, 102), {"entered 1.0 i1 a1 s1/1 buy 5@102 done 0 tif 2"});
        it.both_say(it.order(3, sell, 3, 98), {"entered 2.0 i1 a2 s3/1 sell 3@98 done 0 tif 2",
                                               "indication i1 3@102 surplus 2 buy"});
        // Behind what would trade, it changes nothing of it.
        it.both_say(it.order(3, sell, 9, 103), {"entered 3.0 i1 a2 s3/2 sell 9@103 done 0 tif 2"});
        it.both_say(it.amend(1, entered_as(1), 4, 102),
                    {"amended 1.0 i1 a1 s1/1 buy 4@102 done 0 by 2 priority 1 why 1",
                     "indication i1 3@102 surplus 1 buy"});
        it.both_say(it.amend(1, entered_as(1), 3, 101),
                    {"amended 1.0 i1 a1 s1/1 buy 3@101 done 0 by 3 priority 2 why 1",
                     "indication i1 3@100 surplus 0 buy"});
        it.both_say(it.cancel(3, entered_as(1)),
                    {"cancelled 2.0 i1 a2 s3/1 sell 3@98 done 0 by 3 why 1",
                     "indication i1 0@0 surplus 0 buy"});
    }
}

TEST_CASE("a mass cancel tells once what it changed, at its end") {
    judged_fixture it;
    begin(it, market_phase::pre_open);
    it.tell(it.order(1, buy, 5, 102));
    it.tell(it.order(1, buy, 5, 101));
    it.tell(it.order(3, sell, 10, 98));

    it.both_say(it.cancel_all(1), {"cancelled 1.0 i1 a1 s1/1 buy 5@102 done 0 by 3 why 2",
                                   "cancelled 2.0 i1 a1 s1/2 buy 5@101 done 0 by 3 why 2",
                                   "indication i1 0@0 surplus 0 buy"});
}

TEST_CASE("a quote rests in an auction without a trade, whatever it meets") {
    judged_fixture it;
    begin(it, market_phase::pre_open);
    it.tell(it.order(1, buy, 5, 102));
    it.both_say(it.quote(3, 2, 99, 2, 101), {"entered 2.0 i1 a2 s3/1 buy 2@99 done 0 tif 1",
                                             "entered 3.0 i1 a2 s3/1 sell 2@101 done 0 tif 1",
                                             "indication i1 2@102 surplus 3 buy"});
}

TEST_CASE("what trades at once or never is not taken in an auction") {
    judged_fixture it;
    begin(it, market_phase::pre_open);
    for (const time_in_force tif :
         {time_in_force::immediate_or_cancel, time_in_force::fill_or_kill}) {
        it.both_refuse(it.order(1, buy, 5, 100, tif), reject_reason::not_in_auction);
        enter_order at_market = it.at_market(1, buy, 5);
        at_market.tif = tif;
        it.both_refuse(at_market, reject_reason::not_in_auction);
    }
    enter_order post_only = it.order(1, buy, 5, 100);
    post_only.instruction = execution_instruction::post_only;
    it.both_refuse(post_only, reject_reason::not_in_auction);
}

TEST_CASE("an order at the market needs a collar in an auction, and counts as far as that") {
    judged_fixture it;
    define_instrument terms = changed_future();
    terms.market_band = 5;
    it.tell(terms);
    it.tell(set_phase{future, market_phase::pre_open});
    it.both_refuse(it.waiting_at_market(1, buy, 5), reject_reason::no_price_protection);
    terms.collar = 10;
    terms.order_value_max = 5 * 110;
    it.tell(terms);

    it.both_refuse(it.waiting_at_market(1, buy, 6), reject_reason::value_over_max);
    it.both_say(it.waiting_at_market(1, buy, 5),
                {"entered 1.0 i1 a1 s1/3 buy 5@140737488355327 done 0 tif 3"});
    it.both_say(it.waiting_at_market(3, sell, 2),
                {"entered 2.0 i1 a2 s3/1 sell 2@-140737488355327 done 0 tif 3",
                 "indication i1 2@100 surplus 3 buy"});
}

TEST_CASE("of an order at the market only less may be wanted") {
    judged_fixture it;
    begin(it, market_phase::pre_open);
    it.tell(it.waiting_at_market(1, buy, 5));

    it.both_refuse(it.amend(1, entered_as(1), 6, price_ticks_max),
                   reject_reason::invalid_combination);
    it.both_refuse(it.amend(1, entered_as(1), 5, 100), reject_reason::invalid_combination);
    it.both_say(it.amend(1, entered_as(1), 4, price_ticks_max),
                {"amended 1.0 i1 a1 s1/1 buy 4@140737488355327 done 0 by 4 priority 1 why 1"});
}

TEST_CASE("an order that was post-only stays so where nothing trades") {
    judged_fixture it;
    enter_order post_only = it.order(1, buy, 5, 99);
    post_only.instruction = execution_instruction::post_only;
    it.tell(post_only);
    it.tell(it.order(3, sell, 5, 101));
    it.tell(set_phase{future, market_phase::closing_auction});

    it.both_refuse(it.amend(1, entered_as(1), 5, 101), reject_reason::would_trade);
}

// ---------------------------------------------------------------------------------------------
// Uncrossing
// ---------------------------------------------------------------------------------------------

TEST_CASE("an opening auction trades at one price, first the best and the oldest, and goes on") {
    judged_fixture it;
    begin(it, market_phase::opening_auction);
    it.tell(it.order(1, buy, 4, 101));
    it.tell(it.order(2, buy, 4, 101));
    it.tell(it.order(1, buy, 1, 103));
    it.tell(it.order(3, sell, 2, 99));
    it.tell(it.order(5, sell, 4, 100));

    it.both_accept(uncross{future}, {"result i1 6@101 surplus 3 buy",
                                     "executed 3.0 i1 a1 s1/2 buy 1@101 open 0 auction trade 1",
                                     "executed 4.0 i1 a2 s3/1 sell 1@101 open 1 auction trade 1",
                                     "trade 1 i1 1@101 aggressor sell",
                                     "executed 1.0 i1 a1 s1/1 buy 1@101 open 3 auction trade 2",
                                     "executed 4.0 i1 a2 s3/1 sell 1@101 open 0 auction trade 2",
                                     "trade 2 i1 1@101 aggressor sell",
                                     "executed 1.0 i1 a1 s1/1 buy 3@101 open 0 auction trade 3",
                                     "executed 5.0 i1 a3 s5/1 sell 3@101 open 1 auction trade 3",
                                     "trade 3 i1 3@101 aggressor sell",
                                     "executed 2.0 i1 a1 s2/1 buy 1@101 open 3 auction trade 4",
                                     "executed 5.0 i1 a3 s5/1 sell 1@101 open 0 auction trade 4",
                                     "trade 4 i1 1@101 aggressor sell", "phase i1 2"});
    // The rest stands, and trades as ever.
    it.both_say(it.order(5, sell, 3, 101),
                {"executed 2.0 i1 a1 s2/1 buy 3@101 open 0 maker trade 5",
                 "executed 6.0 i1 a3 s5/2 sell 3@101 open 0 taker trade 5",
                 "trade 5 i1 3@101 aggressor sell"});
}

TEST_CASE("orders at the market trade first, and what is left of them goes with the auction") {
    judged_fixture it;
    begin(it, market_phase::opening_auction);
    it.tell(it.order(1, buy, 2, 120));
    it.tell(it.waiting_at_market(5, buy, 3));
    it.tell(it.order(3, sell, 2, 99));

    it.both_accept(
        uncross{future},
        {"result i1 2@120 surplus 3 buy",
         "executed 2.0 i1 a3 s5/1 buy 2@120 open 1 auction trade 1",
         "executed 3.0 i1 a2 s3/1 sell 2@120 open 0 auction trade 1",
         "trade 1 i1 2@120 aggressor sell",
         "cancelled 2.0 i1 a3 s5/1 buy 1@140737488355327 done 2 by 0 why 3", "phase i1 2"});
}

TEST_CASE("a closing auction closes the market and ends its day") {
    judged_fixture it;
    begin(it, market_phase::closing_auction);
    it.tell(it.order(1, buy, 4, 101, time_in_force::day));
    it.tell(it.order(1, buy, 4, 90));
    it.tell(it.order(3, sell, 2, 99));

    it.both_accept(uncross{future}, {"result i1 2@101 surplus 2 buy",
                                     "executed 1.0 i1 a1 s1/1 buy 2@101 open 2 auction trade 1",
                                     "executed 3.0 i1 a2 s3/1 sell 2@101 open 0 auction trade 1",
                                     "trade 1 i1 2@101 aggressor sell", "phase i1 1",
                                     "cancelled 1.0 i1 a1 s1/1 buy 2@101 done 2 by 0 why 10"});
    it.both_refuse(it.order(1, buy, 4, 90), reject_reason::market_closed);
}

TEST_CASE("whatever leads into continuous trading uncrosses what has met before") {
    for (const market_phase between : {market_phase::halted, market_phase::closed}) {
        judged_fixture it;
        begin(it, market_phase::pre_open);
        it.tell(it.order(1, buy, 2, 101));
        it.tell(it.waiting_at_market(3, sell, 3));
        it.both_accept(set_phase{future, between},
                       {between == market_phase::halted ? "phase i1 3" : "phase i1 1"});

        it.both_accept(
            set_phase{future, market_phase::continuous},
            {"result i1 2@100 surplus 1 sell",
             "executed 1.0 i1 a1 s1/1 buy 2@100 open 0 auction trade 1",
             "executed 2.0 i1 a2 s3/1 sell 2@100 open 1 auction trade 1",
             "trade 1 i1 2@100 aggressor sell",
             "cancelled 2.0 i1 a2 s3/1 sell 1@-140737488355327 done 2 by 0 why 3", "phase i1 2"});
    }
}

TEST_CASE("an order at the market that no auction has ended goes with the day") {
    judged_fixture it;
    begin(it, market_phase::pre_open);
    it.tell(it.waiting_at_market(1, buy, 5));
    it.tell(set_phase{future, market_phase::closed});

    it.both_accept(end_day{future},
                   {"cancelled 1.0 i1 a1 s1/1 buy 5@140737488355327 done 0 by 0 why 10"});
}

TEST_CASE("an auction that begins with orders that meet tells at once what would trade") {
    judged_fixture it;
    begin(it, market_phase::pre_open);
    it.tell(it.order(1, buy, 2, 101));
    it.tell(it.order(3, sell, 2, 101));

    it.both_accept(set_phase{future, market_phase::opening_auction},
                   {"phase i1 6", "indication i1 2@101 surplus 0 buy"});
}

TEST_CASE("accounts that do not trade with each other both lose what an uncross would trade") {
    judged_fixture it;
    begin(it, market_phase::opening_auction);
    it.tell(it.order(1, buy, 4, 102));
    it.tell(it.order(3, buy, 3, 101));
    it.tell(it.order(2, sell, 3, 98));
    it.tell(it.order(5, sell, 2, 99));

    it.both_accept(uncross{future},
                   {"result i1 5@101 surplus 2 buy",
                    "amended 1.0 i1 a1 s1/1 buy 1@102 done 0 by 0 priority 1 why 2",
                    "cancelled 3.0 i1 a1 s2/1 sell 3@98 done 0 by 0 why 5",
                    "executed 1.0 i1 a1 s1/1 buy 1@101 open 0 auction trade 1",
                    "executed 4.0 i1 a3 s5/1 sell 1@101 open 1 auction trade 1",
                    "trade 1 i1 1@101 aggressor sell",
                    "executed 2.0 i1 a2 s3/1 buy 1@101 open 2 auction trade 2",
                    "executed 4.0 i1 a3 s5/1 sell 1@101 open 0 auction trade 2",
                    "trade 2 i1 1@101 aggressor sell", "phase i1 2"});
}

TEST_CASE("accounts trade with themselves in an uncross if both orders allow it, not if one does") {
    for (const bool both : {false, true}) {
        judged_fixture it;
        begin(it, market_phase::opening_auction);
        enter_order bid = it.order(1, buy, 2, 101);
        bid.self_trade = self_trade_action::allow;
        it.tell(bid);
        enter_order ask = it.order(2, sell, 2, 101);
        if (both) ask.self_trade = self_trade_action::allow;
        it.tell(ask);

        const judged_fixture::lines traded{
            "result i1 2@101 surplus 0 buy",
            "executed 1.0 i1 a1 s1/1 buy 2@101 open 0 auction trade 1",
            "executed 2.0 i1 a1 s2/1 sell 2@101 open 0 auction trade 1",
            "trade 1 i1 2@101 aggressor sell", "phase i1 2"};
        const judged_fixture::lines lost{
            "result i1 2@101 surplus 0 buy", "cancelled 1.0 i1 a1 s1/1 buy 2@101 done 0 by 0 why 5",
            "cancelled 2.0 i1 a1 s2/1 sell 2@101 done 0 by 0 why 5", "phase i1 2"};
        it.both_accept(uncross{future}, both ? traded : lost);
    }
}

TEST_CASE("what is no auction is not uncrossed, and phases that no command sets are refused") {
    judged_fixture it;
    it.both_refuse(uncross{future}, reject_reason::no_auction);
    it.both_refuse(uncross{instrument_id{7}}, reject_reason::unknown_instrument);
    it.both_refuse(set_phase{future, market_phase::ended}, reject_reason::invalid_field);
    it.both_refuse(set_phase{future, market_phase::volatility_auction},
                   reject_reason::invalid_field);
    it.both_refuse(set_phase{future, market_phase{9}}, reject_reason::invalid_field);
    it.tell(set_phase{future, market_phase::pre_open});
    it.set_time(1'924'041'600'000'000'000);  // Its last day is over.
    it.both_refuse(uncross{future}, reject_reason::out_of_use);
}

// ---------------------------------------------------------------------------------------------
// Interruptions
// ---------------------------------------------------------------------------------------------

TEST_CASE(
    "an order that would trade too far trades up to there, rests, and interrupts the market") {
    judged_fixture it;
    it.both_accept(set_interruption{future, 3, 1'000});
    it.tell(it.order(1, sell, 1, 102));
    it.tell(it.order(1, sell, 1, 104));
    it.tell(it.order(1, sell, 1, 106));

    // The reference is the price before the order, however far its own trades go.
    it.both_say(
        it.order(3, buy, 5, 110),
        {"executed 1.0 i1 a1 s1/1 sell 1@102 open 0 maker trade 1",
         "executed 4.0 i1 a2 s3/1 buy 1@102 open 4 taker trade 1", "trade 1 i1 1@102 aggressor buy",
         "phase i1 8", "entered 4.0 i1 a2 s3/1 buy 4@110 done 1 tif 2",
         "indication i1 2@110 surplus 2 buy"});
    it.wait(999);
    it.both_accept(advance_phases{});
    it.both_say(it.order(5, sell, 2, 105), {"entered 5.0 i1 a3 s5/1 sell 2@105 done 0 tif 2",
                                            "indication i1 4@106 surplus 0 buy"});
    it.wait(1);

    it.both_accept(advance_phases{}, {"result i1 4@106 surplus 0 buy",
                                      "executed 4.0 i1 a2 s3/1 buy 1@106 open 3 auction trade 2",
                                      "executed 2.0 i1 a1 s1/2 sell 1@106 open 0 auction trade 2",
                                      "trade 2 i1 1@106 aggressor sell",
                                      "executed 4.0 i1 a2 s3/1 buy 2@106 open 1 auction trade 3",
                                      "executed 5.0 i1 a3 s5/1 sell 2@106 open 0 auction trade 3",
                                      "trade 3 i1 2@106 aggressor sell",
                                      "executed 4.0 i1 a2 s3/1 buy 1@106 open 0 auction trade 4",
                                      "executed 3.0 i1 a1 s1/3 sell 1@106 open 0 auction trade 4",
                                      "trade 4 i1 1@106 aggressor sell", "phase i1 2"});
}

TEST_CASE("an order that may not rest interrupts the market, too, and its rest goes") {
    judged_fixture it;
    it.tell(set_interruption{future, 3, 0});
    it.tell(it.order(1, sell, 1, 104));

    it.both_say(it.order(3, buy, 5, 110, time_in_force::immediate_or_cancel),
                {"phase i1 8", "cancelled 2.0 i1 a2 s3/1 buy 5@110 done 0 by 0 why 3"});
}

TEST_CASE("a fill-or-kill counts what it may reach, and interrupts nothing") {
    judged_fixture it;
    it.tell(set_interruption{future, 3, 0});
    it.tell(it.order(1, sell, 4, 103));
    it.tell(it.order(1, sell, 4, 104));

    it.both_say(it.order(3, buy, 5, 110, time_in_force::fill_or_kill),
                {"cancelled 3.0 i1 a2 s3/1 buy 5@110 done 0 by 0 why 4"});
    it.both_say(it.order(3, buy, 4, 110, time_in_force::fill_or_kill),
                {"executed 1.0 i1 a1 s1/1 sell 4@103 open 0 maker trade 1",
                 "executed 4.0 i1 a2 s3/2 buy 4@103 open 0 taker trade 1",
                 "trade 1 i1 4@103 aggressor buy"});
}

TEST_CASE("an amended order interrupts as a new one does, and a quote rests on both sides") {
    judged_fixture it;
    it.tell(set_interruption{future, 3, 0});
    it.tell(it.order(1, sell, 1, 105));
    it.tell(it.order(3, buy, 1, 95));
    it.both_say(it.amend(3, entered_as(1), 1, 105),
                {"amended 2.0 i1 a2 s3/1 buy 1@105 done 0 by 2 priority 2 why 1", "phase i1 8",
                 "indication i1 1@105 surplus 0 buy"});

    judged_fixture other;
    other.tell(set_interruption{future, 3, 0});
    other.tell(other.order(1, sell, 1, 105));
    other.tell(other.order(1, buy, 1, 104));
    other.both_say(
        other.quote(3, 2, 106, 2, 107),
        {"phase i1 8", "entered 3.0 i1 a2 s3/1 buy 2@106 done 0 tif 1",
         "entered 4.0 i1 a2 s3/1 sell 2@107 done 0 tif 1", "indication i1 1@106 surplus 1 buy"});
}

TEST_CASE("what interrupts is asked of the last price of the day, and of none where it is 0") {
    judged_fixture it;
    it.tell(set_interruption{future, 3, 0});
    it.tell(it.order(1, sell, 1, 103));
    it.tell(it.order(3, buy, 1, 103));
    it.tell(it.order(1, sell, 1, 106));
    it.both_say(it.order(3, buy, 1, 106),
                {"executed 3.0 i1 a1 s1/2 sell 1@106 open 0 maker trade 2",
                 "executed 4.0 i1 a2 s3/2 buy 1@106 open 0 taker trade 2",
                 "trade 2 i1 1@106 aggressor buy"});
    it.tell(set_interruption{future, 0, 0});
    it.tell(it.order(1, sell, 1, 500));
    it.both_say(it.order(3, buy, 1, 500),
                {"executed 5.0 i1 a1 s1/3 sell 1@500 open 0 maker trade 3",
                 "executed 6.0 i1 a2 s3/3 buy 1@500 open 0 taker trade 3",
                 "trade 3 i1 1@500 aggressor buy"});
    for (const price_ticks wrong : {price_ticks{-1}, price_ticks_max + 1})
        it.both_refuse(set_interruption{future, wrong, 0}, reject_reason::invalid_definition);
}

// ---------------------------------------------------------------------------------------------
// Schedules
// ---------------------------------------------------------------------------------------------

namespace {

constexpr timestamp_ns second = 1'000'000'000;
constexpr timestamp_ns day = seconds_of_day * second;

}  // namespace

TEST_CASE("a market follows its schedule every day, at the first timer behind the time") {
    judged_fixture it;
    it.both_accept(schedule_phase{future, market_phase::pre_open, 10});
    it.both_accept(schedule_phase{future, market_phase::continuous, 20});
    it.both_accept(schedule_phase{future, market_phase::closing_auction, 30});
    it.both_accept(schedule_phase{future, market_phase::closed, 31});
    it.set_time(10 * second - 1);
    it.both_accept(advance_phases{});
    it.set_time(10 * second);
    it.both_accept(advance_phases{}, {"phase i1 5"});
    it.both_accept(advance_phases{});
    it.tell(it.order(1, buy, 2, 100, time_in_force::day));
    it.tell(it.order(3, sell, 1, 100));
    it.set_time(21 * second);
    it.both_accept(advance_phases{}, {"result i1 1@100 surplus 1 buy",
                                      "executed 1.0 i1 a1 s1/1 buy 1@100 open 1 auction trade 1",
                                      "executed 2.0 i1 a2 s3/1 sell 1@100 open 0 auction trade 1",
                                      "trade 1 i1 1@100 aggressor sell", "phase i1 2"});
    // What was missed is made up for; the closing auction ends the day.
    it.set_time(40 * second);
    it.both_accept(advance_phases{}, {"phase i1 7", "phase i1 1",
                                      "cancelled 1.0 i1 a1 s1/1 buy 1@100 done 1 by 0 why 10"});
    it.set_time(day + 10 * second);
    it.both_accept(advance_phases{}, {"phase i1 5"});
    it.both_accept(schedule_phase{future, market_phase::continuous, seconds_of_day});
    it.set_time(day + 25 * second);
    it.both_accept(advance_phases{});
}

TEST_CASE("a schedule says nothing of a phase that a market has, and opens none that is halted") {
    judged_fixture it;
    it.tell(schedule_phase{future, market_phase::continuous, 10});
    it.tell(schedule_phase{future, market_phase::closed, 20});
    it.set_time(10 * second);
    it.both_accept(advance_phases{});
    it.tell(set_phase{future, market_phase::halted});
    it.set_time(day + 10 * second);
    it.both_accept(advance_phases{}, {"phase i1 1", "phase i1 2"});
    it.tell(set_phase{future, market_phase::halted});
    it.set_time(2 * day + 10 * second - 1);
    it.both_accept(advance_phases{}, {"phase i1 1"});
}

TEST_CASE("an interruption that is over ends before what the schedule says") {
    judged_fixture it;
    it.tell(set_interruption{future, 3, 5 * second});
    it.tell(schedule_phase{future, market_phase::closing_auction, 7});
    it.tell(it.order(1, sell, 1, 110));
    it.tell(it.order(3, buy, 1, 110));  // In the first second.
    it.set_time(9 * second);
    it.both_accept(advance_phases{},
                   {"result i1 1@110 surplus 0 buy",
                    "executed 2.0 i1 a2 s3/1 buy 1@110 open 0 auction trade 1",
                    "executed 1.0 i1 a1 s1/1 sell 1@110 open 0 auction trade 1",
                    "trade 1 i1 1@110 aggressor sell", "phase i1 2", "phase i1 7"});
}

TEST_CASE("a schedule is of phases that may be set, and of seconds that a day has") {
    judged_fixture it;
    for (const market_phase wrong :
         {market_phase::ended, market_phase::volatility_auction, market_phase{0}})
        it.both_refuse(schedule_phase{future, wrong, 1}, reject_reason::invalid_field);
    it.both_refuse(schedule_phase{future, market_phase::closed, seconds_of_day + 1},
                   reject_reason::invalid_definition);
    it.both_refuse(schedule_phase{instrument_id{5}, market_phase::closed, 1},
                   reject_reason::unknown_instrument);
    it.both_accept(schedule_phase{future, market_phase::closed, seconds_of_day});
    it.tell(retire{definition_kind::instrument, 1});
    it.both_refuse(schedule_phase{future, market_phase::closed, 1}, reject_reason::out_of_use);
}

// ---------------------------------------------------------------------------------------------
// Busts
// ---------------------------------------------------------------------------------------------

TEST_CASE("a trade is busted for both sides, and once") {
    judged_fixture it;
    it.tell(it.order(1, sell, 4, 103));
    it.tell(it.order(3, buy, 3, 103));
    it.both_accept(bust_trade{future, trade_id{1}},
                   {"busted 2.0 i1 a2 s3/1 buy 3@103 trade 1",
                    "busted 1.0 i1 a1 s1/1 sell 3@103 trade 1", "trade busted 1 i1 3@103"});
    it.both_refuse(bust_trade{future, trade_id{1}}, reject_reason::already_busted);
    it.both_refuse(bust_trade{future, trade_id{2}}, reject_reason::unknown_trade);
    it.both_refuse(bust_trade{instrument_id{5}, trade_id{1}}, reject_reason::unknown_instrument);
    it.tell(it.order(3, buy, 1, 103));
    it.tell(end_day{future});
    it.both_refuse(bust_trade{future, trade_id{2}}, reject_reason::unknown_trade);
}

TEST_CASE("what a busted trade was counts for no limit any more") {
    judged_fixture it;
    define_account limited = any_account(2);
    limited.position_max = 3;
    limited.action = definition_action::change;
    it.tell(limited);
    it.tell(it.order(1, sell, 9, 103));
    it.tell(it.order(3, buy, 3, 103));
    it.both_refuse(it.order(3, buy, 1, 103), reject_reason::position_over_max);

    it.tell(bust_trade{future, trade_id{1}});

    it.both_say(it.order(3, buy, 3, 103),
                {"executed 1.0 i1 a1 s1/1 sell 3@103 open 3 maker trade 2",
                 "executed 3.0 i1 a2 s3/3 buy 3@103 open 0 taker trade 2",
                 "trade 2 i1 3@103 aggressor buy"});
}
