// SPDX-License-Identifier: BSL-1.0
//
// What exchange/core/matcher.hpp promises: who trades with whom, at which price, and what is left.
#include <exchange/core/matcher.hpp>

#include <exchange/tests/support/trading_fixture.hpp>

#include <doctest/doctest.h>

#include <vector>

using namespace exchange;
using namespace exchange::testing;

namespace {

struct print {
    session_id maker;
    contracts quantity;
    price_ticks price;

    bool operator==(const print&) const = default;
};

// The fills of the last command, as their makers see them.
std::vector<print> prints(const trading_fixture& of) {
    std::vector<print> found;
    for (const event& each : of.said()) {
        if (each.kind != event_kind::order_executed) continue;
        const order_executed& it = each.order_executed;
        if (it.role == execution_role::maker) found.push_back({it.session, it.quantity, it.price});
    }
    return found;
}

constexpr session_id one{1}, two{2}, three{3};

}  // namespace

TEST_CASE(
    "better prices trade first, at one price the earlier order, always at the maker's price") {
    trading_fixture it;
    it.enter(1, order_side::sell, 5, 102);
    it.enter(2, order_side::sell, 5, 101);
    it.enter(3, order_side::sell, 5, 101);

    it.enter(4, order_side::buy, 12, 110);

    CHECK(prints(it) == std::vector<print>{{two, 5, 101}, {three, 5, 101}, {one, 2, 102}});
    CHECK(it.top().ask_quantity == 3);
    CHECK(it.top().bid_quantity == 0);
}

TEST_CASE("an order trades up to its limit and rests there") {
    trading_fixture it;
    it.enter(1, order_side::buy, 5, 100);
    it.enter(2, order_side::buy, 5, 98);

    it.enter(4, order_side::sell, 20, 99);

    CHECK(prints(it) == std::vector<print>{{one, 5, 100}});
    CHECK(it.top().bid_price == 98);
    CHECK(it.top().ask_price == 99);
    CHECK(it.top().ask_quantity == 15);
}

TEST_CASE("an amend down keeps the place, an amend up or to another price loses it") {
    trading_fixture it;
    for (std::uint16_t each = 1; each <= 3; ++each) it.enter(each, order_side::sell, 5, 100);

    it.amend(1, 1, 4, 100);
    it.enter(4, order_side::buy, 1, 100);
    CHECK(prints(it) == std::vector<print>{{one, 1, 100}});
    it.amend(1, 1, 4, 100);  // Nothing changes, so nothing is lost.
    it.enter(4, order_side::buy, 1, 100);
    CHECK(prints(it) == std::vector<print>{{one, 1, 100}});

    it.amend(1, 1, 9, 100);
    it.enter(4, order_side::buy, 1, 100);
    CHECK(prints(it) == std::vector<print>{{two, 1, 100}});

    it.amend(2, 1, 5, 101);
    it.amend(2, 1, 5, 100);
    it.enter(4, order_side::buy, 20, 100);
    CHECK(prints(it) == std::vector<print>{{three, 5, 100}, {one, 7, 100}, {two, 4, 100}});
}

TEST_CASE("what was executed counts in an amend's quantity") {
    trading_fixture it;
    it.enter(1, order_side::sell, 10, 100);
    it.enter(2, order_side::buy, 6, 100);

    it.amend(1, 1, 8, 100);
    CHECK(it.top().ask_quantity == 2);
    it.amend(1, 1, 6, 100);

    CHECK(it.lines()[0] == "cancelled 1.1 i1 a1 s1/1 sell 2@100 done 6 by 3 why 7");
    CHECK(it.top().ask_quantity == 0);
}

TEST_CASE("an order amended across the book trades like a new one, and what is left rests") {
    trading_fixture it;
    it.enter(1, order_side::sell, 5, 105);
    it.enter(2, order_side::buy, 8, 100);

    it.amend(2, 1, 8, 106);

    CHECK(prints(it) == std::vector<print>{{one, 5, 105}});
    CHECK(it.top().bid_price == 106);
    CHECK(it.top().bid_quantity == 3);
    it.cancel(2, 1);
    CHECK(it.said().size() == 4);
}

TEST_CASE("an order that is amended away completely is gone by every name") {
    trading_fixture it;
    it.enter(1, order_side::sell, 8, 105);
    it.enter(2, order_side::buy, 8, 100);

    it.amend(2, 1, 8, 105);

    CHECK(it.partition().state().memory.orders.in_use() == 0);
    it.cancel(2, 1);
    CHECK(it.refusal() == reject_reason::unknown_order);
}

TEST_CASE("an order that gives way to its own kind while it moves still tells the new top") {
    trading_fixture it;
    for (std::uint16_t each = 5; each <= 6; ++each) {
        define_account own = any_account(each);
        own.group = self_trade_group{1};
        own.self_trade = self_trade_action::cancel_aggressor;
        it.tell(own);
        it.tell(session_of(each, each));
    }
    it.enter(5, order_side::sell, 5, 105);
    it.enter(6, order_side::buy, 8, 100);

    it.amend(6, 1, 8, 105);

    CHECK(it.said().back().kind == event_kind::top_of_book);
    CHECK(it.top().bid_quantity == 0);
    CHECK(it.top().ask_quantity == 5);
}

TEST_CASE("fill-or-kill fills across levels to the last contract, or not at all") {
    trading_fixture it;
    it.enter(1, order_side::sell, 5, 100);
    it.enter(2, order_side::sell, 5, 163);

    it.enter(4, order_side::buy, 11, 200, time_in_force::fill_or_kill);
    CHECK(it.kinds() == std::vector{event_kind::order_cancelled});
    it.enter(4, order_side::buy, 10, 162, time_in_force::fill_or_kill);
    CHECK(it.kinds() == std::vector{event_kind::order_cancelled});
    it.enter(4, order_side::buy, 10, 163, time_in_force::fill_or_kill);

    CHECK(prints(it) == std::vector<print>{{one, 5, 100}, {two, 5, 163}});
    CHECK(it.said().size() == 20);
}

TEST_CASE("an immediate order takes what is there, and the rest is cancelled in one message") {
    trading_fixture it;
    it.enter(1, order_side::sell, 5, 100);

    it.enter(4, order_side::buy, 7, 100, time_in_force::immediate_or_cancel);

    CHECK(it.said().size() == 11);
    CHECK(it.lines().back() == "cancelled 2.1 i1 a4 s4/1 buy 2@100 done 5 by 0 why 3");
    CHECK(it.partition().state().memory.orders.in_use() == 0);
}
