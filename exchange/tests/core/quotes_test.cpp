// SPDX-License-Identifier: BSL-1.0
//
// What exchange/core/quotes.cpp promises: a quote is two orders, and the next one takes their place whole.
#include <exchange/core/partition.hpp>

#include <exchange/tests/support/trading_fixture.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace exchange;
using namespace exchange::testing;

namespace {

using lines = std::vector<std::string>;

enter_quote quote_of(trading_fixture& it, std::uint16_t session, price_ticks bid, price_ticks ask,
                     contracts quantity = 10) {
    return {.session = session_id{session},
            .client_seq = it.next_seq(session),
            .instrument = future,
            .self_trade = self_trade_action::account_default,
            .bid_price = bid,
            .ask_price = ask,
            .bid_quantity = quantity,
            .ask_quantity = quantity};
}

// A quote that is refused leaves the old one standing.
void check_refused(const enter_quote& spoiled, trading_fixture& it, reject_reason why) {
    const top_of_book before = it.top();

    it.tell(spoiled);

    CHECK(it.refusal() == why);
    CHECK(it.top() == before);
}

}  // namespace

TEST_CASE("a quote enters a bid and an ask, and the next quote replaces both") {
    trading_fixture it;
    it.tell(quote_of(it, 1, 99, 101));
    CHECK(it.said().size() == 8);

    it.tell(quote_of(it, 1, 98, 102, 5));

    CHECK(it.said().size() == 16);
    CHECK(it.lines()[0] == "cancelled 1.1 i1 a1 s1/1 buy 10@99 done 0 by 2 why 6");
    CHECK(it.lines()[4] == "cancelled 2.1 i1 a1 s1/1 sell 10@101 done 0 by 2 why 6");
    CHECK(it.top().bid_price == 98);
    CHECK(it.top().ask_price == 102);
    CHECK(it.partition().state().memory.orders.in_use() == 2);
}

TEST_CASE("a side without quantity is withdrawn, at the owner's request") {
    trading_fixture it;
    it.tell(quote_of(it, 1, 99, 101));
    enter_quote bid_only = quote_of(it, 1, 99, 0);
    bid_only.ask_quantity = 0;

    it.tell(bid_only);

    CHECK(it.lines()[4] == "cancelled 2.1 i1 a1 s1/1 sell 10@101 done 0 by 2 why 1");
    CHECK(it.top().ask_quantity == 0);
    CHECK(it.top().bid_quantity == 10);
}

TEST_CASE("a quote without any quantity withdraws what there is, bid first, or is refused") {
    trading_fixture it;
    it.tell(quote_of(it, 1, 99, 101));

    it.tell(quote_of(it, 1, 0, 0, 0));

    REQUIRE(it.said().size() == 8);
    CHECK(it.lines()[0] == "cancelled 1.1 i1 a1 s1/1 buy 10@99 done 0 by 2 why 1");
    CHECK(it.lines()[4] == "cancelled 2.1 i1 a1 s1/1 sell 10@101 done 0 by 2 why 1");
    it.tell(quote_of(it, 1, 0, 0, 0));
    CHECK(it.refusal() == reject_reason::nothing_to_cancel);
    it.tell(quote_of(it, 2, 0, 0, 0));
    CHECK(it.refusal() == reject_reason::nothing_to_cancel);
    CHECK(it.partition().state().memory.orders.in_use() == 0);
}

TEST_CASE("a quote is withdrawn in a halt and when the market is closed, like any order") {
    for (const market_phase phase : {market_phase::halted, market_phase::closed}) {
        trading_fixture it;
        it.tell(quote_of(it, 1, 99, 101));
        it.tell(set_phase{future, phase});

        enter_quote one_side = quote_of(it, 1, 99, 101);
        one_side.bid_quantity = 0;
        it.tell(one_side);
        CHECK(it.refusal() != reject_reason::none);
        it.tell(quote_of(it, 1, 0, 0, 0));

        CHECK(it.said().size() == 8);
        CHECK(it.partition().state().memory.orders.in_use() == 0);
    }
}

TEST_CASE("a quote is withdrawn over the message rate, and that does not count") {
    trading_fixture it;
    define_account slow = any_account(5);
    slow.messages_per_second_max = 2;
    it.tell(slow);
    it.tell(session_of(5, 5));
    it.tell(quote_of(it, 5, 0, 0, 0));
    it.tell(quote_of(it, 5, 0, 0, 0));
    it.tell(quote_of(it, 5, 98, 102));
    it.tell(quote_of(it, 5, 99, 101));
    check_refused(quote_of(it, 5, 98, 102), it, reject_reason::message_rate);

    it.tell(quote_of(it, 5, 0, 0, 0));

    CHECK(it.said().size() == 8);
}

TEST_CASE(
    "a blocked account that withdraws a quote is told that the kill switch has left nothing") {
    trading_fixture it;
    it.tell(quote_of(it, 1, 99, 101));
    it.tell(set_account_state{account_id{1}, account_state::blocked});

    it.tell(quote_of(it, 1, 0, 0, 0));

    CHECK(it.refusal() == reject_reason::nothing_to_cancel);
}

TEST_CASE("a side of a quote is not amended, and takes the other side along when it is cancelled") {
    trading_fixture it;
    it.tell(quote_of(it, 1, 99, 101));
    const order_id ask = it.said()[4].order_entered.order;

    it.amend(1, 1, 5, 99);
    CHECK(it.refusal() == reject_reason::part_of_quote);
    it.tell(amend_order{session_id{1}, it.next_seq(1), {ask, client_sequence::none}, 99, 10});
    CHECK(it.refusal() == reject_reason::part_of_quote);
    it.tell(cancel_order{session_id{1}, it.next_seq(1), {ask, client_sequence::none}});

    REQUIRE(it.said().size() == 8);
    CHECK(it.said()[0].order_cancelled.side == order_side::buy);
    CHECK(it.said()[4].order_cancelled.order == ask);
}

TEST_CASE("a withdrawal is checked for what a cancel is: sender, number, fields and market") {
    trading_fixture it;
    it.tell(quote_of(it, 1, 99, 101));
    enter_quote wrong = quote_of(it, 1, 0, 0, 0);
    wrong.session = session_id{9};
    check_refused(wrong, it, reject_reason::unknown_session);
    wrong = quote_of(it, 1, 0, 0, 0);
    wrong.client_seq = client_sequence{1};
    check_refused(wrong, it, reject_reason::duplicate_client_sequence);
    wrong = quote_of(it, 1, 0, 0, 0);
    wrong.self_trade = self_trade_action{9};
    check_refused(wrong, it, reject_reason::invalid_field);
    wrong = quote_of(it, 1, 0, 0, 0);
    wrong.instrument = instrument_id{3};
    check_refused(wrong, it, reject_reason::unknown_instrument);
}

TEST_CASE("a cancel by the quote's sequence takes both sides, bid first") {
    trading_fixture it;
    it.tell(quote_of(it, 1, 99, 101));

    it.cancel(1, 1);

    REQUIRE(it.said().size() == 8);
    CHECK(it.said()[0].order_cancelled.side == order_side::buy);
    CHECK(it.said()[4].order_cancelled.side == order_side::sell);
}

TEST_CASE("a side that traded away is not replaced, and an order of the account is no quote") {
    trading_fixture it;
    it.enter(1, order_side::buy, 3, 90);
    it.tell(quote_of(it, 1, 99, 101));
    it.enter(2, order_side::buy, 10, 101);

    it.tell(quote_of(it, 1, 98, 102));

    CHECK(it.said().size() == 4 + 8);
    CHECK(it.partition().state().memory.orders.in_use() == 3);
}

TEST_CASE("a quote may trade on arrival, and what it leaves is the quote") {
    trading_fixture it;
    it.enter(2, order_side::sell, 4, 100);

    it.tell(quote_of(it, 1, 100, 103));
    CHECK(it.said().size() == 10 + 4 + 4);
    it.tell(quote_of(it, 1, 97, 103));

    CHECK(it.lines()[0] == "cancelled 2.1 i1 a1 s1/1 buy 6@100 done 4 by 2 why 6");
}

TEST_CASE("a quote that may not be leaves the old one as it was") {
    trading_fixture it;
    it.tell(quote_of(it, 1, 99, 101));

    check_refused(quote_of(it, 1, 100, 100), it, reject_reason::invalid_combination);
    check_refused(quote_of(it, 1, 100, price_ticks_max + 1), it, reject_reason::invalid_price);
    enter_quote wrong = quote_of(it, 1, 98, 102);
    wrong.self_trade = self_trade_action{9};
    check_refused(wrong, it, reject_reason::invalid_field);
    wrong = quote_of(it, 1, 98, 102);
    wrong.instrument = instrument_id{3};
    check_refused(wrong, it, reject_reason::unknown_instrument);
    it.cancel(1, 1);
    CHECK(it.said().size() == 8);
}

TEST_CASE("limits are asked as if the old quote were gone") {
    trading_fixture it;
    define_account terms = any_account(5);
    terms.open_orders_max = 2;
    terms.position_max = 10;
    it.tell(terms);
    it.tell(session_of(5, 5));

    it.tell(quote_of(it, 5, 99, 101));
    it.tell(quote_of(it, 5, 98, 102));
    CHECK(it.said().size() == 16);
    check_refused(quote_of(it, 5, 97, 103, 11), it, reject_reason::position_over_max);
    it.enter(5, order_side::buy, 1, 90);
    CHECK(it.refusal() == reject_reason::open_orders_over_max);
}

TEST_CASE("without room for both sides neither is entered") {
    partition_limits limits = small_limits();
    limits.orders_max = 3;
    trading_fixture it{limits};
    it.enter(1, order_side::buy, 1, 90);
    it.enter(1, order_side::buy, 1, 91);

    check_refused(quote_of(it, 1, 99, 101), it, reject_reason::at_capacity);
}
