// SPDX-License-Identifier: BSL-1.0
//
// The rules about orders that wait for a price, hide, want a minimum, or end with a day, each once more by
// hand. rules_test.cpp says why.
#include <exchange/tests/support/judged_fixture.hpp>

#include <doctest/doctest.h>

using namespace exchange;
using namespace exchange::testing;
using enum exchange::order_side;

namespace {

using lines = judged_fixture::lines;

// Accounts 2 and 3 trade one contract; what that leads to beside its own three lines.
lines behind_trade_at(judged_fixture& it, price_ticks price) {
    it.tell(it.order(3, sell, 1, price));
    lines said = it.tell(it.order(5, buy, 1, price));
    REQUIRE(said.size() >= 3);
    said.erase(said.begin(), said.begin() + 3);
    return said;
}

std::string told(const lines& of) {
    std::string made;
    for (const std::string& each : of) made += each + '\n';
    return made;
}

void check_said(const lines& said, const lines& expected) { CHECK(told(said) == told(expected)); }

enter_order day_order(enter_order it) {
    it.tif = time_in_force::day;
    return it;
}

enter_advanced_order until(enter_advanced_order it, std::uint32_t last_day) {
    it.tif = time_in_force::good_till_date;
    it.expiry_yyyymmdd = last_day;
    return it;
}

enter_advanced_order at_least(enter_advanced_order it, contracts minimum) {
    it.minimum_quantity = minimum;
    return it;
}

// Market orders may go five ticks beyond the best price.
void protect(judged_fixture& it) {
    define_instrument terms = changed_future();
    terms.market_band = 5;
    it.both_accept(terms);
}

constexpr timestamp_ns end_of_2030_12_19 = 1'923'955'200'000'000'000;

}  // namespace

// ---------------------------------------------------------------------------------------------
// Stops
// ---------------------------------------------------------------------------------------------

TEST_CASE("a stop to buy waits until a trade at its trigger or above, and then arrives") {
    judged_fixture it;
    it.both_say(stop(it.order(1, buy, 5, 106), 105),
                {"terms 1.0 i1 a1 s1/1 buy type 4 trigger 105 shows 0 least 0 until 0",
                 "waits 1.0 i1 a1 s1/1 buy 5@106 tif 2"});
    check_said(behind_trade_at(it, 104), {});
    check_said(behind_trade_at(it, 105), {"triggered 1.0 i1 a1 s1/1 buy 5@106",
                                          "entered 1.0 i1 a1 s1/1 buy 5@106 done 0 tif 2"});
    check_said(behind_trade_at(it, 107), {});
}

TEST_CASE("a stop to sell waits until a trade at its trigger or below") {
    judged_fixture it;
    it.tell(stop(it.order(1, sell, 5, 90), 95));
    check_said(behind_trade_at(it, 96), {});
    check_said(behind_trade_at(it, 94), {"triggered 1.0 i1 a1 s1/1 sell 5@90",
                                         "entered 1.0 i1 a1 s1/1 sell 5@90 done 0 tif 2"});
}

TEST_CASE("a stop that waits is in nobody's way: no order trades with it") {
    judged_fixture it;
    it.tell(stop(it.order(1, buy, 5, 106), 105));
    it.both_say(it.order(3, sell, 5, 100), {"entered 2.0 i1 a2 s3/1 sell 5@100 done 0 tif 2"});
}

TEST_CASE("a stop whose trigger the last trade of the day has reached is refused") {
    judged_fixture it;
    SUBCASE("before there is a trade, nothing is reached") {
        it.both_say(stop(it.order(1, buy, 5, 1), 1),
                    {"terms 1.0 i1 a1 s1/1 buy type 4 trigger 1 shows 0 least 0 until 0",
                     "waits 1.0 i1 a1 s1/1 buy 5@1 tif 2"});
    }
    SUBCASE("to buy, at the last price or below") {
        check_said(behind_trade_at(it, 100), {});
        it.both_refuse(stop(it.order(1, buy, 5, 110), 100), reject_reason::trigger_passed);
        it.both_refuse(stop(it.order(1, buy, 5, 110), 99), reject_reason::trigger_passed);
        it.tell(stop(it.order(1, buy, 5, 110), 101));
        check_said(behind_trade_at(it, 101), {"triggered 3.0 i1 a1 s1/3 buy 5@110",
                                              "entered 3.0 i1 a1 s1/3 buy 5@110 done 0 tif 2"});
    }
    SUBCASE("to sell, at the last price or above") {
        check_said(behind_trade_at(it, 100), {});
        it.both_refuse(stop(it.order(1, sell, 5, 90), 100), reject_reason::trigger_passed);
        it.both_refuse(stop(it.order(1, sell, 5, 90), 101), reject_reason::trigger_passed);
    }
    SUBCASE("the day before does not count") {
        check_said(behind_trade_at(it, 100), {});
        it.both_accept(end_day{future});
        it.both_say(stop(it.order(1, buy, 5, 99), 99),
                    {"terms 3.0 i1 a1 s1/1 buy type 4 trigger 99 shows 0 least 0 until 0",
                     "waits 3.0 i1 a1 s1/1 buy 5@99 tif 2"});
    }
}

TEST_CASE("stops are triggered to buy before to sell, by trigger, and then by time") {
    judged_fixture it;
    it.tell(stop(it.order(1, sell, 1, 80), 100));
    it.tell(stop(it.order(1, buy, 2, 80), 100));
    it.tell(stop(it.order(1, buy, 3, 80), 99));
    it.tell(stop(it.order(1, buy, 4, 80), 100));
    it.tell(stop(it.order(2, sell, 5, 120), 101));
    it.tell(stop(it.order(2, sell, 6, 120), 99));

    check_said(
        behind_trade_at(it, 100),
        {"triggered 3.0 i1 a1 s1/3 buy 3@80", "entered 3.0 i1 a1 s1/3 buy 3@80 done 0 tif 2",
         "triggered 2.0 i1 a1 s1/2 buy 2@80", "entered 2.0 i1 a1 s1/2 buy 2@80 done 0 tif 2",
         "triggered 4.0 i1 a1 s1/4 buy 4@80", "entered 4.0 i1 a1 s1/4 buy 4@80 done 0 tif 2",
         "triggered 5.0 i1 a1 s2/1 sell 5@120", "entered 5.0 i1 a1 s2/1 sell 5@120 done 0 tif 2",
         "triggered 1.0 i1 a1 s1/1 sell 1@80",
         "cancelled 3.0 i1 a1 s1/3 buy 3@80 done 0 by 0 why 5",
         "cancelled 2.0 i1 a1 s1/2 buy 2@80 done 0 by 0 why 5",
         "cancelled 4.0 i1 a1 s1/4 buy 4@80 done 0 by 0 why 5",
         "entered 1.0 i1 a1 s1/1 sell 1@80 done 0 tif 2"});
}

TEST_CASE("a stop that trades triggers the next one, all in the event of the first trade") {
    judged_fixture it;
    it.tell(it.order(3, sell, 1, 101));
    it.tell(it.order(3, sell, 1, 103));
    it.tell(stop(it.order(1, buy, 1, 103), 101));
    it.tell(stop(it.order(1, buy, 7, 90), 103));

    it.both_say(
        it.order(5, buy, 1, 101),
        {"executed 1.0 i1 a2 s3/1 sell 1@101 open 0 maker trade 1",
         "executed 5.0 i1 a3 s5/1 buy 1@101 open 0 taker trade 1", "trade 1 i1 1@101 aggressor buy",
         "triggered 3.0 i1 a1 s1/1 buy 1@103",
         "executed 2.0 i1 a2 s3/2 sell 1@103 open 0 maker trade 2",
         "executed 3.0 i1 a1 s1/1 buy 1@103 open 0 taker trade 2", "trade 2 i1 1@103 aggressor buy",
         "triggered 4.0 i1 a1 s1/2 buy 7@90", "entered 4.0 i1 a1 s1/2 buy 7@90 done 0 tif 2"});
}

TEST_CASE("every price of a sweep counts, and stops wait until the sweep is over") {
    judged_fixture it;
    it.tell(it.order(3, buy, 1, 100));
    it.tell(it.order(3, buy, 1, 95));
    it.tell(stop(it.order(1, buy, 1, 90), 100));

    it.both_say(
        it.order(5, sell, 3, 95),
        {"executed 1.0 i1 a2 s3/1 buy 1@100 open 0 maker trade 1",
         "executed 4.0 i1 a3 s5/1 sell 1@100 open 2 taker trade 1",
         "trade 1 i1 1@100 aggressor sell", "executed 2.0 i1 a2 s3/2 buy 1@95 open 0 maker trade 2",
         "executed 4.0 i1 a3 s5/1 sell 1@95 open 1 taker trade 2", "trade 2 i1 1@95 aggressor sell",
         "entered 4.0 i1 a3 s5/1 sell 1@95 done 2 tif 2", "triggered 3.0 i1 a1 s1/1 buy 1@90",
         "entered 3.0 i1 a1 s1/1 buy 1@90 done 0 tif 2"});
}

TEST_CASE("stops wait for both sides of a quote that triggers them") {
    judged_fixture it;
    it.tell(it.order(3, sell, 1, 100));
    it.tell(stop(it.order(1, buy, 1, 102), 100));

    it.both_say(
        it.quote(5, 1, 100, 1, 102),
        {"executed 1.0 i1 a2 s3/1 sell 1@100 open 0 maker trade 1",
         "executed 3.0 i1 a3 s5/1 buy 1@100 open 0 taker trade 1", "trade 1 i1 1@100 aggressor buy",
         "entered 4.0 i1 a3 s5/1 sell 1@102 done 0 tif 1", "triggered 2.0 i1 a1 s1/1 buy 1@102",
         "executed 4.0 i1 a3 s5/1 sell 1@102 open 0 maker trade 2",
         "executed 2.0 i1 a1 s1/1 buy 1@102 open 0 taker trade 2",
         "trade 2 i1 1@102 aggressor buy"});
}

TEST_CASE("a stop at the market is a market order when it is triggered") {
    judged_fixture it;
    it.both_refuse(stop(it.at_market(1, buy, 5), 105), reject_reason::invalid_combination);
    enter_order mine = day_order(it.at_market(1, buy, 5));
    it.both_refuse(stop(mine, 105), reject_reason::no_price_protection);
    protect(it);
    mine = day_order(it.at_market(1, buy, 5));
    it.both_say(stop(mine, 105),
                {"terms 1.0 i1 a1 s1/3 buy type 3 trigger 105 shows 0 least 0 until 0",
                 "waits 1.0 i1 a1 s1/3 buy 5@105 tif 1"});
    it.tell(it.order(3, sell, 1, 105));
    it.tell(it.order(3, sell, 2, 108));
    it.tell(it.order(3, sell, 2, 114));

    SUBCASE("within the band around what it meets first, and what is left is gone") {
        it.both_say(it.order(5, buy, 1, 105),
                    {"executed 2.0 i1 a2 s3/1 sell 1@105 open 0 maker trade 1",
                     "executed 5.0 i1 a3 s5/1 buy 1@105 open 0 taker trade 1",
                     "trade 1 i1 1@105 aggressor buy", "triggered 1.0 i1 a1 s1/3 buy 5@113",
                     "executed 3.0 i1 a2 s3/2 sell 2@108 open 0 maker trade 2",
                     "executed 1.0 i1 a1 s1/3 buy 2@108 open 3 taker trade 2",
                     "trade 2 i1 2@108 aggressor buy",
                     "cancelled 1.0 i1 a1 s1/3 buy 3@113 done 2 by 0 why 3"});
    }
    SUBCASE("with nothing that bounds it any more it is cancelled") {
        it.both_accept(changed_future());
        it.both_say(it.order(5, buy, 1, 105),
                    {"executed 2.0 i1 a2 s3/1 sell 1@105 open 0 maker trade 1",
                     "executed 5.0 i1 a3 s5/1 buy 1@105 open 0 taker trade 1",
                     "trade 1 i1 1@105 aggressor buy", "triggered 1.0 i1 a1 s1/3 buy 5@105",
                     "cancelled 1.0 i1 a1 s1/3 buy 5@105 done 0 by 0 why 21"});
    }
}

TEST_CASE("a stop is cancelled as any order is, and by all that cancels many") {
    judged_fixture it;
    it.tell(stop(day_order(it.order(1, buy, 5, 106)), 105));
    it.tell(stop(it.order(1, sell, 6, 90), 95));
    it.tell(it.order(1, buy, 7, 100));
    const std::string day = "cancelled 1.0 i1 a1 s1/1 buy 5@106 done 0 by ";
    const std::string other = "cancelled 2.0 i1 a1 s1/2 sell 6@90 done 0 by ";
    const std::string resting = "cancelled 3.0 i1 a1 s1/3 buy 7@100 done 0 by ";

    SUBCASE("by sequence") { it.both_say(it.cancel(1, entered_as(1)), {day + "4 why 1"}); }
    SUBCASE("by id, from a sister session") {
        it.both_say(it.cancel(2, known_as(2)), {other + "s2/1 why 1"});
    }
    SUBCASE("in the order in which they came") {
        it.both_say(it.cancel_all(1), {day + "4 why 2", other + "4 why 2", resting + "4 why 2"});
    }
    SUBCASE("of one side") {
        it.both_say(it.cancel_all(1, side_filter::sell), {other + "4 why 2"});
    }
    SUBCASE("by the kill switch") {
        it.both_accept(set_account_state{account_id{1}, account_state::blocked},
                       {day + "0 why 8", other + "0 why 8", resting + "0 why 8"});
    }
    SUBCASE("with the session") {
        it.both_accept(end_session{session_id{1}},
                       {day + "0 why 9", other + "0 why 9", resting + "0 why 9"});
    }
    SUBCASE("with the day, if they are of the day") {
        it.both_accept(end_day{future}, {day + "0 why 10"});
    }
    SUBCASE("with the market, behind what rests") {
        it.both_accept(retire{definition_kind::instrument, 1},
                       {"phase i1 4", resting + "0 why 12", day + "0 why 12", other + "0 why 12"});
    }
}

TEST_CASE("a stop counts among an account's open orders, and as if it were filled") {
    judged_fixture it;
    define_account limited = any_account(1);
    limited.action = definition_action::change;
    limited.open_orders_max = 2;
    limited.position_max = 10;
    it.both_accept(limited);
    it.tell(stop(it.order(1, buy, 6, 106), 105));

    it.both_refuse(stop(it.order(1, buy, 5, 106), 105), reject_reason::position_over_max);
    it.both_refuse(it.order(1, buy, 5, 90), reject_reason::position_over_max);
    it.tell(it.order(1, sell, 5, 130));
    it.both_refuse(stop(it.order(1, sell, 5, 90), 95), reject_reason::open_orders_over_max);
}

TEST_CASE("an amend leaves a stop its trigger, and its place if it only wants less") {
    judged_fixture it;
    it.tell(stop(it.order(1, buy, 5, 106), 105));
    it.tell(stop(it.order(2, buy, 5, 106), 105));

    SUBCASE("less") {
        it.both_say(it.amend(1, entered_as(1), 4, 106),
                    {"amended 1.0 i1 a1 s1/1 buy 4@106 done 0 by 2 priority 1 why 1"});
        check_said(behind_trade_at(it, 105), {"triggered 1.0 i1 a1 s1/1 buy 4@106",
                                              "entered 1.0 i1 a1 s1/1 buy 4@106 done 0 tif 2",
                                              "triggered 2.0 i1 a1 s2/1 buy 5@106",
                                              "entered 2.0 i1 a1 s2/1 buy 5@106 done 0 tif 2"});
    }
    SUBCASE("another limit") {
        it.both_say(it.amend(1, entered_as(1), 5, 107),
                    {"amended 1.0 i1 a1 s1/1 buy 5@107 done 0 by 2 priority 2 why 1"});
        check_said(behind_trade_at(it, 105), {"triggered 2.0 i1 a1 s2/1 buy 5@106",
                                              "entered 2.0 i1 a1 s2/1 buy 5@106 done 0 tif 2",
                                              "triggered 1.0 i1 a1 s1/1 buy 5@107",
                                              "entered 1.0 i1 a1 s1/1 buy 5@107 done 0 tif 2"});
    }
}

TEST_CASE("a trigger is amended as long as it waits") {
    judged_fixture it;
    it.tell(stop(it.order(1, buy, 5, 106), 105));
    const auto amended = [&](price_ticks trigger, price_ticks price, contracts quantity) {
        return amend_stop{session_id{1}, it.next_seq(1), entered_as(1), trigger, price, quantity};
    };

    SUBCASE("to another one, with its limit and quantity") {
        it.both_say(amended(103, 104, 9),
                    {"amended 1.0 i1 a1 s1/1 buy 9@104 done 0 by 2 priority 2 why 1",
                     "trigger 1.0 i1 a1 s1/1 buy at 103 by 2"});
        check_said(behind_trade_at(it, 103), {"triggered 1.0 i1 a1 s1/1 buy 9@104",
                                              "entered 1.0 i1 a1 s1/1 buy 9@104 done 0 tif 2"});
    }
    SUBCASE("to the same, which says nothing of it") {
        it.both_say(amended(105, 106, 4),
                    {"amended 1.0 i1 a1 s1/1 buy 4@106 done 0 by 2 priority 1 why 1"});
    }
    SUBCASE("not to one that is reached") {
        check_said(behind_trade_at(it, 100), {});
        it.both_refuse(amended(100, 106, 5), reject_reason::trigger_passed);
    }
    SUBCASE("not when it was triggered") {
        behind_trade_at(it, 105);
        it.both_refuse(amended(104, 106, 5), reject_reason::not_waiting);
    }
    SUBCASE("not of one that is not there") {
        it.both_refuse(amend_stop{session_id{3}, it.next_seq(3), entered_as(1), 104, 106, 5},
                       reject_reason::unknown_order);
    }
    SUBCASE("not in a halt") {
        it.both_accept(set_phase{future, market_phase::halted}, {"phase i1 3"});
        it.both_refuse(amended(104, 106, 5), reject_reason::market_halted);
    }
}

// ---------------------------------------------------------------------------------------------
// Icebergs
// ---------------------------------------------------------------------------------------------

TEST_CASE("an iceberg trades what it shows, then goes behind those at its price and shows more") {
    judged_fixture it;
    it.both_say(iceberg(it.order(1, sell, 10, 100), 4),
                {"terms 1.0 i1 a1 s1/1 sell type 1 trigger 0 shows 4 least 0 until 0",
                 "entered 1.0 i1 a1 s1/1 sell 10@100 done 0 tif 2"});
    it.tell(it.order(3, sell, 3, 100));

    it.both_say(
        it.order(5, buy, 9, 100),
        {"executed 1.0 i1 a1 s1/1 sell 4@100 open 6 maker trade 1",
         "executed 3.0 i1 a3 s5/1 buy 4@100 open 5 taker trade 1", "trade 1 i1 4@100 aggressor buy",
         "executed 2.0 i1 a2 s3/1 sell 3@100 open 0 maker trade 2",
         "executed 3.0 i1 a3 s5/1 buy 3@100 open 2 taker trade 2", "trade 2 i1 3@100 aggressor buy",
         "executed 1.0 i1 a1 s1/1 sell 2@100 open 4 maker trade 3",
         "executed 3.0 i1 a3 s5/1 buy 2@100 open 0 taker trade 3",
         "trade 3 i1 2@100 aggressor buy"});
    it.both_say(it.cancel(1, entered_as(1)),
                {"cancelled 1.0 i1 a1 s1/1 sell 4@100 done 6 by 2 why 1"});
}

TEST_CASE("an iceberg arrives with all of its quantity, and hides when it rests") {
    judged_fixture it;
    it.tell(it.order(3, buy, 6, 100));

    it.both_say(
        iceberg(it.order(1, sell, 10, 100), 3),
        {"terms 2.0 i1 a1 s1/1 sell type 1 trigger 0 shows 3 least 0 until 0",
         "executed 1.0 i1 a2 s3/1 buy 6@100 open 0 maker trade 1",
         "executed 2.0 i1 a1 s1/1 sell 6@100 open 4 taker trade 1",
         "trade 1 i1 6@100 aggressor sell", "entered 2.0 i1 a1 s1/1 sell 4@100 done 6 tif 2"});
}

TEST_CASE("less of an iceberg is less of what it hides, as long as it hides something") {
    judged_fixture it;
    it.tell(iceberg(it.order(1, sell, 10, 100), 4));
    it.tell(it.order(3, sell, 1, 100));

    it.both_say(it.amend(1, entered_as(1), 5, 100),
                {"amended 1.0 i1 a1 s1/1 sell 5@100 done 0 by 2 priority 1 why 1"});
    it.both_say(it.amend(1, entered_as(1), 2, 100),
                {"amended 1.0 i1 a1 s1/1 sell 2@100 done 0 by 3 priority 1 why 1"});
    it.both_say(it.order(5, buy, 2, 100),
                {"executed 1.0 i1 a1 s1/1 sell 2@100 open 0 maker trade 1",
                 "executed 3.0 i1 a3 s5/1 buy 2@100 open 0 taker trade 1",
                 "trade 1 i1 2@100 aggressor buy"});
}

TEST_CASE("a decrement takes from an iceberg all that they have in common, hidden or not") {
    judged_fixture it;
    it.tell(iceberg(it.order(1, sell, 10, 100), 4));
    enter_order mine = it.order(2, buy, 8, 100);
    mine.self_trade = self_trade_action::decrement;

    it.both_say(mine, {"amended 1.0 i1 a1 s1/1 sell 2@100 done 0 by 0 priority 1 why 2",
                       "cancelled 2.0 i1 a1 s2/1 buy 8@100 done 0 by 0 why 5"});
}

TEST_CASE("a fill-or-kill finds what an iceberg hides") {
    judged_fixture it;
    it.tell(iceberg(it.order(3, sell, 10, 100), 4));

    SUBCASE("all of it") {
        const lines said = it.tell(it.order(5, buy, 10, 100, time_in_force::fill_or_kill));
        CHECK(said.back() == "trade 3 i1 2@100 aggressor buy");
    }
    SUBCASE("no more than it") {
        it.both_say(it.order(5, buy, 11, 100, time_in_force::fill_or_kill),
                    {"cancelled 2.0 i1 a3 s5/1 buy 11@100 done 0 by 0 why 4"});
    }
    SUBCASE("not behind an order of its own where that ends it") {
        it.tell(it.order(6, sell, 1, 100));
        enter_order mine = it.order(5, buy, 5, 100, time_in_force::fill_or_kill);
        mine.self_trade = self_trade_action::cancel_aggressor;
        it.both_say(mine, {"cancelled 3.0 i1 a3 s5/1 buy 5@100 done 0 by 0 why 4"});
    }
}

TEST_CASE("what an iceberg shows is some of it, in lots, of a limit order that may rest") {
    using enum reject_reason;
    judged_fixture it;
    const auto shown = [&](contracts display, order_type type, time_in_force tif) {
        enter_order mine = it.order(1, sell, 10, 100, tif);
        mine.type = type;
        return iceberg(mine, display);
    };
    using enum time_in_force;
    protect(it);

    it.both_refuse(shown(10, order_type::limit, day), invalid_combination);
    it.both_refuse(shown(4, order_type::limit, immediate_or_cancel), invalid_combination);
    it.both_refuse(shown(4, order_type::market, day), invalid_combination);
    define_product lots = any_product();
    lots.action = definition_action::change;
    lots.lot = 5;
    it.both_accept(lots);
    it.both_refuse(shown(4, order_type::limit, day), invalid_quantity);
}

// ---------------------------------------------------------------------------------------------
// Minimum quantities
// ---------------------------------------------------------------------------------------------

TEST_CASE("a minimum is filled at once, or the order goes without any fill") {
    judged_fixture it;
    it.tell(it.order(3, sell, 4, 100));

    SUBCASE("there is less") {
        it.both_say(at_least(advanced(it.order(5, buy, 9, 100)), 5),
                    {"terms 2.0 i1 a3 s5/1 buy type 1 trigger 0 shows 0 least 5 until 0",
                     "cancelled 2.0 i1 a3 s5/1 buy 9@100 done 0 by 0 why 20"});
    }
    SUBCASE("there is as much, and what is left rests") {
        it.both_say(
            at_least(advanced(it.order(5, buy, 9, 100)), 4),
            {"terms 2.0 i1 a3 s5/1 buy type 1 trigger 0 shows 0 least 4 until 0",
             "executed 1.0 i1 a2 s3/1 sell 4@100 open 0 maker trade 1",
             "executed 2.0 i1 a3 s5/1 buy 4@100 open 5 taker trade 1",
             "trade 1 i1 4@100 aggressor buy", "entered 2.0 i1 a3 s5/1 buy 5@100 done 4 tif 2"});
        it.both_say(it.order(3, sell, 1, 100),
                    {"executed 2.0 i1 a3 s5/1 buy 1@100 open 4 maker trade 2",
                     "executed 3.0 i1 a2 s3/2 sell 1@100 open 0 taker trade 2",
                     "trade 2 i1 1@100 aggressor sell"});
    }
    SUBCASE("there is as much with what an iceberg hides") {
        it.tell(iceberg(it.order(3, sell, 3, 100), 1));
        const lines said = it.tell(
            at_least(advanced(it.order(5, buy, 9, 100, time_in_force::immediate_or_cancel)), 7));
        CHECK(said.back() == "cancelled 3.0 i1 a3 s5/1 buy 2@100 done 7 by 0 why 3");
    }
}

TEST_CASE("a stop asks for its minimum when it is triggered") {
    judged_fixture it;
    it.tell(at_least(stop(it.order(5, buy, 9, 106), 105), 5));
    it.tell(it.order(1, sell, 1, 105));
    it.tell(it.order(1, sell, 4, 106));

    it.both_say(it.order(3, buy, 1, 105),
                {"executed 2.0 i1 a1 s1/1 sell 1@105 open 0 maker trade 1",
                 "executed 4.0 i1 a2 s3/1 buy 1@105 open 0 taker trade 1",
                 "trade 1 i1 1@105 aggressor buy", "triggered 1.0 i1 a3 s5/1 buy 9@106",
                 "cancelled 1.0 i1 a3 s5/1 buy 9@106 done 0 by 0 why 20"});
}

TEST_CASE("a minimum is part of the order, and of none that takes all or nothing, or nothing") {
    using enum reject_reason;
    judged_fixture it;
    it.both_refuse(at_least(advanced(it.order(1, buy, 5, 100)), 6), invalid_combination);
    it.both_refuse(at_least(advanced(it.order(1, buy, 5, 100, time_in_force::fill_or_kill)), 5),
                   invalid_combination);
    enter_order passive = it.order(1, buy, 5, 100);
    passive.instruction = execution_instruction::post_only;
    it.both_refuse(at_least(advanced(passive), 5), invalid_combination);
    it.tell(at_least(stop(it.order(1, buy, 5, 106), 105), 4));
    it.both_refuse(it.amend(1, entered_as(4), 3, 106), invalid_combination);
}

// ---------------------------------------------------------------------------------------------
// Last days
// ---------------------------------------------------------------------------------------------

TEST_CASE("a GTD order goes when its last day is over and the timer says so") {
    judged_fixture it;
    it.set_time(end_of_2030_12_19 - 1'000);
    it.tell(until(advanced(it.order(1, buy, 5, 90)), 20'301'219));
    it.tell(until(advanced(it.order(1, buy, 5, 91)), 20'301'220));
    it.tell(until(stop(it.order(1, buy, 5, 106), 105), 20'301'219));
    it.tell(it.order(1, buy, 5, 92));

    it.both_accept(expire_instruments{});
    it.wait(1'000);
    it.both_accept(expire_instruments{}, {"cancelled 1.0 i1 a1 s1/1 buy 5@90 done 0 by 0 why 11",
                                          "cancelled 3.0 i1 a1 s1/3 buy 5@106 done 0 by 0 why 11"});
    it.both_accept(expire_instruments{});
}

TEST_CASE("a GTD order that was filled, cancelled or triggered is not looked for on its last day") {
    judged_fixture it;
    it.set_time(end_of_2030_12_19 - 1'000);
    it.tell(until(advanced(it.order(1, sell, 1, 100)), 20'301'219));
    it.tell(until(advanced(it.order(1, sell, 1, 101)), 20'301'219));
    it.tell(until(stop(it.order(1, sell, 7, 99), 100), 20'301'219));
    it.tell(it.cancel(1, entered_as(2)));
    it.tell(it.order(3, buy, 1, 100));
    it.wait(1'000);

    it.both_accept(expire_instruments{}, {"cancelled 3.0 i1 a1 s1/3 sell 7@99 done 0 by 0 why 11"});
}

TEST_CASE("a last day is a day that is not over, of an order that has one") {
    using enum reject_reason;
    judged_fixture it;
    it.set_time(end_of_2030_12_19);
    it.both_refuse(until(advanced(it.order(1, buy, 5, 90)), 20'301'219), invalid_expiry);
    it.both_refuse(until(advanced(it.order(1, buy, 5, 90)), 20'310'229), invalid_expiry);
    it.both_refuse(until(advanced(it.order(1, buy, 5, 90)), 0), invalid_combination);
    enter_advanced_order lasting = advanced(it.order(1, buy, 5, 90));
    lasting.expiry_yyyymmdd = 20'301'220;
    it.both_refuse(lasting, invalid_combination);
    enter_order plain = it.order(1, buy, 5, 90, time_in_force::good_till_date);
    it.both_refuse(plain, invalid_field);
}
