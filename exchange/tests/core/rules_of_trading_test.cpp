// SPDX-License-Identifier: BSL-1.0
//
// The rules about what meets in the book, each once more by hand: self-trades, and how far a market order
// goes. rules_test.cpp says why.
#include <exchange/tests/support/judged_fixture.hpp>

#include <doctest/doctest.h>

using namespace exchange;
using namespace exchange::testing;
using enum exchange::order_side;

// ---------------------------------------------------------------------------------------------
// Self-trades
// ---------------------------------------------------------------------------------------------

TEST_CASE("an account without a group does not trade with itself") {
    judged_fixture it;
    it.tell(it.order(1, sell, 5, 100));
    enter_order mine = it.order(2, buy, 5, 100);
    mine.self_trade = self_trade_action::cancel_aggressor;

    it.both_say(mine, {"cancelled 2.0 i1 a1 s2/1 buy 5@100 done 0 by 0 why 5"});
}

TEST_CASE("an account trades with itself where it says so, by order or by default") {
    judged_fixture it;
    it.tell(it.order(1, sell, 5, 100));
    enter_order mine = it.order(2, buy, 5, 100);

    SUBCASE("by order") { mine.self_trade = self_trade_action::allow; }
    SUBCASE("by default") {
        define_account lax = any_account(1);
        lax.self_trade = self_trade_action::allow;
        lax.action = definition_action::change;
        it.both_accept(lax);
    }

    it.both_say(mine, {"executed 1.0 i1 a1 s1/1 sell 5@100 open 0 maker trade 1",
                       "executed 2.0 i1 a1 s2/1 buy 5@100 open 0 taker trade 1",
                       "trade 1 i1 5@100 aggressor buy"});
}

TEST_CASE("a fill-or-kill counts what it may trade with") {
    judged_fixture it;
    it.tell(it.order(1, sell, 5, 100));
    it.tell(it.order(3, sell, 5, 100));
    enter_order all = it.order(2, buy, 5, 100, time_in_force::fill_or_kill);

    SUBCASE("all of it with allow") {
        all.self_trade = self_trade_action::allow;
        all.quantity = 10;
        it.both_say(all, {"executed 1.0 i1 a1 s1/1 sell 5@100 open 0 maker trade 1",
                          "executed 3.0 i1 a1 s2/1 buy 5@100 open 5 taker trade 1",
                          "trade 1 i1 5@100 aggressor buy",
                          "executed 2.0 i1 a2 s3/1 sell 5@100 open 0 maker trade 2",
                          "executed 3.0 i1 a1 s2/1 buy 5@100 open 0 taker trade 2",
                          "trade 2 i1 5@100 aggressor buy"});
    }
    SUBCASE("what is not its own with cancel_resting") {
        all.self_trade = self_trade_action::cancel_resting;
        it.both_say(all, {"cancelled 1.0 i1 a1 s1/1 sell 5@100 done 0 by 0 why 5",
                          "executed 2.0 i1 a2 s3/1 sell 5@100 open 0 maker trade 1",
                          "executed 3.0 i1 a1 s2/1 buy 5@100 open 0 taker trade 1",
                          "trade 1 i1 5@100 aggressor buy"});
    }
    SUBCASE("what comes before its own with the others") {
        all.self_trade = self_trade_action::decrement;
        it.both_say(all, {"cancelled 3.0 i1 a1 s2/1 buy 5@100 done 0 by 0 why 4"});
    }
}

// ---------------------------------------------------------------------------------------------
// Market orders
// ---------------------------------------------------------------------------------------------

TEST_CASE("a market order reaches as far as collar and band allow") {
    judged_fixture it;
    define_instrument bounds = changed_future();  // Settled at 100.
    it.tell(it.order(3, sell, 1, 104));
    it.tell(it.order(3, buy, 1, 96));
    const auto both_reach = [&](const char* bought, const char* sold) {
        it.tell(bounds);
        const auto rest_of = [&](enter_order what) {
            what.client_seq = it.next_seq(5);
            const std::string last = it.tell(what).back();
            return last.substr(last.find('@') + 1, 3);
        };
        CHECK(rest_of(it.at_market(5, buy, 2)) == bought);
        CHECK(rest_of(it.at_market(5, sell, 2)) == sold);
    };

    SUBCASE("the collar alone") {
        bounds.collar = 20;
        both_reach("120", "80 ");
    }
    SUBCASE("the band alone") {
        bounds.market_band = 3;
        both_reach("107", "93 ");
    }
    SUBCASE("the band within the collar") {
        bounds.collar = 20;
        bounds.market_band = 3;
        both_reach("107", "93 ");
    }
    SUBCASE("the collar within the band") {
        bounds.collar = 5;
        bounds.market_band = 3;
        both_reach("105", "95 ");
    }
    SUBCASE("the band around the settlement price, where nothing stands") {
        it.tell(it.cancel_all(3));
        bounds.market_band = 3;
        both_reach("103", "97 ");
    }
}

TEST_CASE("a market order that nothing bounds is refused, before its quantity is looked at") {
    judged_fixture it;
    it.tell(it.order(3, sell, 1, 104));

    it.both_refuse(it.at_market(1, buy, 0), reject_reason::no_price_protection);
    it.tell(set_phase{future, market_phase::halted});
    it.both_refuse(it.at_market(1, buy, 1), reject_reason::market_halted);
}

TEST_CASE("without a collar, a market order is worth its limit or the best price") {
    judged_fixture it;
    define_instrument strict = changed_future();
    strict.market_band = 3;
    it.tell(it.order(3, sell, 1, 104));
    it.tell(it.order(3, buy, 1, 96));
    const auto both_say_over = [&](std::int64_t value_max, enter_order what) {
        strict.order_value_max = value_max;
        it.tell(strict);
        what.client_seq = it.next_seq(5);
        it.both_refuse(what, reject_reason::value_over_max);
    };
    const auto both_trade = [&](std::int64_t value_max, enter_order what) {
        strict.order_value_max = value_max;
        it.tell(strict);
        what.client_seq = it.next_seq(5);
        CHECK(it.tell(what).front().starts_with("executed"));
    };

    both_say_over(213, it.at_market(5, buy, 2));  // At 107 each.
    both_trade(214, it.at_market(5, buy, 2));
    both_say_over(191, it.at_market(5, sell, 2));  // At 96, not at 93.
    both_trade(192, it.at_market(5, sell, 2));
}

TEST_CASE("within a collar, a market order is worth its limit or the far end of the collar") {
    judged_fixture it;
    define_instrument strict = changed_future();
    strict.collar = 20;
    strict.market_band = 3;
    it.tell(it.order(3, buy, 1, 96));
    strict.order_value_max = 119;
    it.tell(strict);

    it.both_refuse(it.at_market(5, sell, 1), reject_reason::value_over_max);
    strict.order_value_max = 120;
    it.tell(strict);
    CHECK(it.tell(it.at_market(5, sell, 1)).front().starts_with("executed"));
}

TEST_CASE("within a collar, what the best price is adds nothing to the worth of a market order") {
    judged_fixture it;
    it.tell(it.order(3, buy, 1, 300));
    define_instrument strict = changed_future();
    strict.collar = 20;
    strict.market_band = 3;
    strict.order_value_max = 297;
    it.tell(strict);

    CHECK(it.tell(it.at_market(5, sell, 1)).front().starts_with("executed"));
}

TEST_CASE("a value that does not fit 63 bits is refused, of a market order as of any other") {
    judged_fixture it;
    define_instrument far = changed_future();
    far.settlement_price = price_ticks_max;
    far.market_band = 1;
    it.tell(far);

    it.both_refuse(it.at_market(1, buy, 0xffff'ffff), reject_reason::value_over_max);
}
