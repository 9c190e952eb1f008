// SPDX-License-Identifier: BSL-1.0
//
// What exchange/core/self_trade.hpp promises: which accounts are of one group, and which gives way;
// as events, all four.
#include <exchange/core/self_trade.hpp>

#include <exchange/tests/support/trading_fixture.hpp>

#include <doctest/doctest.h>

using namespace exchange;
using namespace exchange::testing;

namespace {

using lines = std::vector<std::string>;

// Sessions 5 and 6 are of one group, session 1 of none. Session 5 rests 10 at 100 first.
struct family : trading_fixture {
    family() {
        for (std::uint16_t each = 5; each <= 6; ++each) {
            define_account it = any_account(each);
            it.group = self_trade_group{1};
            tell(it);
            tell(session_of(each, each));
        }
        enter(5, order_side::sell, 10, 100);
    }
    const std::vector<event>& aggress(self_trade_action how, contracts quantity,
                                      time_in_force tif = time_in_force::day) {
        enter_order it = limit_order(6, order_side::buy, quantity, 100, tif);
        it.self_trade = how;
        return tell(it);
    }
};

}  // namespace

TEST_CASE("an account is related to itself, and to those that share its group") {
    account one{}, other{};
    CHECK(are_related(one, one));
    CHECK_FALSE(are_related(one, other));
    one.terms.group = self_trade_group{1};
    CHECK_FALSE(are_related(one, other));
    other.terms.group = self_trade_group{1};
    CHECK(are_related(one, other));
}

TEST_CASE("an account without a group does not trade with itself unless it says so") {
    trading_fixture it;
    it.enter(1, order_side::sell, 10, 100);

    enter_order own = it.limit_order(1, order_side::buy, 4, 100);
    it.tell(own);
    CHECK(it.said()[0].kind == event_kind::order_cancelled);
    CHECK(it.said()[0].order_cancelled.reason == cancel_reason::self_trade);

    it.enter(1, order_side::sell, 10, 100);
    own = it.limit_order(1, order_side::buy, 4, 100);
    own.self_trade = self_trade_action::allow;
    it.tell(own);
    CHECK(it.said()[0].kind == event_kind::order_executed);
}

TEST_CASE("an order that leaves it to its account does what the account says") {
    account it{};
    it.terms.self_trade = self_trade_action::decrement;
    CHECK(action_of(it, self_trade_action::account_default) == self_trade_action::decrement);
    CHECK(action_of(it, self_trade_action::cancel_both) == self_trade_action::cancel_both);
}

TEST_CASE("cancel resting: the resting order goes and the aggressor trades on") {
    family it;
    it.enter(1, order_side::sell, 4, 100);

    it.aggress(self_trade_action::cancel_resting, 4);

    REQUIRE(it.said().size() == 14);
    CHECK(it.lines()[0] == "cancelled 1.1 i1 a5 s5/1 sell 10@100 done 0 by 0 why 5");
    CHECK(it.said()[4].order_executed.order == order_id{(1u << 24) | 2});
}

TEST_CASE("cancel aggressor: the aggressor goes and the book is as it was") {
    family it;

    it.aggress(self_trade_action::cancel_aggressor, 4);

    CHECK(it.lines() == lines{"cancelled 2.1 i1 a6 s6/1 buy 4@100 done 0 by 0 why 5"});
    CHECK(it.top().ask_quantity == 10);
}

TEST_CASE("cancel both: neither is left") {
    family it;

    it.aggress(self_trade_action::cancel_both, 4);

    CHECK(it.lines() == lines{"cancelled 1.1 i1 a5 s5/1 sell 10@100 done 0 by 0 why 5",
                              "book erase 1.1 i1 sell 0@100", "level i1 sell 0@100 of 0",
                              "top i1 0@0 of 0 | 0@0 of 0",
                              "cancelled 2.1 i1 a6 s6/1 buy 4@100 done 0 by 0 why 5"});
}

TEST_CASE(
    "decrement: a larger resting order loses what the aggressor wanted, and keeps its place") {
    family it;

    it.aggress(self_trade_action::decrement, 4);

    CHECK(it.lines() == lines{"amended 1.1 i1 a5 s5/1 sell 6@100 done 0 by 0 priority 1 why 2",
                              "book modify 1.1 i1 sell 6@100", "level i1 sell 6@100 of 1",
                              "top i1 0@0 of 0 | 6@100 of 1",
                              "cancelled 2.1 i1 a6 s6/1 buy 4@100 done 0 by 0 why 5"});
}

TEST_CASE("decrement: a larger aggressor goes on with the rest") {
    family it;

    it.aggress(self_trade_action::decrement, 15);

    const lines said = it.lines();
    REQUIRE(said.size() == 9);
    CHECK(said[0] == "cancelled 1.1 i1 a5 s5/1 sell 10@100 done 0 by 0 why 5");
    CHECK(said[4] == "amended 2.1 i1 a6 s6/1 buy 5@100 done 0 by 0 priority 1 why 2");
    CHECK(said[5] == "entered 2.1 i1 a6 s6/1 buy 5@100 done 0 tif 1");
}

TEST_CASE("a fill-or-kill counts on others only, and tells in advance what will be in its way") {
    family it;
    it.enter(1, order_side::sell, 4, 100);
    const auto kill = time_in_force::fill_or_kill;

    it.aggress(self_trade_action::cancel_resting, 5, kill);
    CHECK(it.said().size() == 1);
    it.aggress(self_trade_action::cancel_aggressor, 4, kill);
    CHECK(it.said().size() == 1);
    it.aggress(self_trade_action::decrement, 4, kill);
    CHECK(it.said().size() == 1);
    CHECK(it.top().ask_quantity == 14);
    it.aggress(self_trade_action::cancel_resting, 4, kill);
    CHECK(it.said().size() == 14);
}
