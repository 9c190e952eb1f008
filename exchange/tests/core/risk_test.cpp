// SPDX-License-Identifier: BSL-1.0
//
// What exchange/core/risk.hpp promises: limits hold as if everything open were filled.
#include <exchange/core/risk.hpp>

#include <exchange/tests/support/trading_fixture.hpp>

#include <doctest/doctest.h>

using namespace exchange;
using namespace exchange::testing;

namespace {

exposure one_order(order_side side, contracts quantity) { return {side, quantity, quantity, 1}; }

}  // namespace

TEST_CASE("without limits there are none") {
    account whose{};
    holding held{};
    held.position = 1'000'000'000'000;

    CHECK(check_limits(whose, held, one_order(order_side::buy, 0xffff'ffff)) ==
          reject_reason::none);
}

TEST_CASE("the position counts on the side that would make it larger") {
    account whose{};
    whose.terms.position_max = 100;
    holding held{};
    held.position = 60;
    held.open = {30, 0};

    CHECK(check_limits(whose, held, one_order(order_side::buy, 10)) == reject_reason::none);
    CHECK(check_limits(whose, held, one_order(order_side::buy, 11)) ==
          reject_reason::position_over_max);
    CHECK(check_limits(whose, held, one_order(order_side::sell, 160)) == reject_reason::none);
    CHECK(check_limits(whose, held, one_order(order_side::sell, 161)) ==
          reject_reason::position_over_max);
}

TEST_CASE("an account over a limit may still reduce its position") {
    account whose{};
    whose.terms.position_max = 100;
    whose.terms.open_orders_max = 1;
    whose.open_orders = 5;
    holding held{};
    held.position = 500;

    CHECK(check_limits(whose, held, {order_side::buy, 10, -5, 0}) == reject_reason::none);
    CHECK(check_limits(whose, held, {order_side::buy, 10, 0, -1}) == reject_reason::none);
}

TEST_CASE("an account trades up to its position and open orders, and is told which it met") {
    trading_fixture it;
    define_account terms = any_account(5);
    terms.position_max = 10;
    terms.open_orders_max = 2;
    terms.order_quantity_max = 8;
    it.tell(terms);
    it.tell(session_of(5, 5));

    it.enter(5, order_side::buy, 9, 100);
    CHECK(it.refusal() == reject_reason::quantity_over_max);
    it.enter(5, order_side::buy, 8, 100);
    it.enter(5, order_side::buy, 3, 100);
    CHECK(it.refusal() == reject_reason::position_over_max);
    it.enter(5, order_side::buy, 2, 100);
    it.enter(5, order_side::sell, 1, 200);
    CHECK(it.refusal() == reject_reason::open_orders_over_max);

    // Filled is as good as open; cancelled is not.
    it.enter(1, order_side::sell, 8, 100);
    it.enter(5, order_side::buy, 1, 100);
    CHECK(it.refusal() == reject_reason::position_over_max);
    it.cancel(5, 4);
    CHECK(it.refusal() == reject_reason::none);
    it.enter(5, order_side::buy, 2, 100);
    CHECK(it.refusal() == reject_reason::none);
}

TEST_CASE("an account that sends too much in a second is told so, and may still cancel") {
    trading_fixture it;
    define_account terms = any_account(5);
    terms.messages_per_second_max = 2;
    it.tell(terms);
    it.tell(session_of(5, 5));

    it.enter(5, order_side::buy, 1, 100);
    it.enter(5, order_side::buy, 1, 101);
    it.enter(5, order_side::buy, 1, 102);
    CHECK(it.refusal() == reject_reason::message_rate);
    it.cancel(5, 1);
    CHECK(it.refusal() == reject_reason::none);
    it.wait(1'000'000'000);
    it.enter(5, order_side::buy, 1, 102);
    CHECK(it.refusal() == reject_reason::none);
}
