// SPDX-License-Identifier: BSL-1.0
//
// What exchange/core/administration.cpp promises: definitions are sound or refused, and a halt, a kill
// switch, a lost session and the end of a day do to orders what they should.
#include <exchange/core/partition.hpp>

#include <exchange/tests/support/trading_fixture.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace exchange;
using namespace exchange::testing;

namespace {

using lines = std::vector<std::string>;

template <class Command>
void check_refused(trading_fixture& it, const Command& what, reject_reason why) {
    it.tell(what);

    CHECK(it.kinds() == std::vector{event_kind::admin_rejected});
    CHECK(it.refusal() == why);
    CHECK(it.said()[0].admin_rejected.command == Command::kind);
}

}  // namespace

TEST_CASE("what is defined is answered, once") {
    trading_fixture it;
    CHECK(it.tell(any_product(product_id{2})).size() == 1);
    CHECK(it.lines() == lines{"accepted 32 2"});

    check_refused(it, any_product(product_id{2}), reject_reason::already_defined);
    check_refused(it, any_instrument(), reject_reason::already_defined);
    check_refused(it, any_account(1), reject_reason::already_defined);
    check_refused(it, session_of(1, 2), reject_reason::already_defined);
}

TEST_CASE("numbers run from one to the limit of the partition") {
    trading_fixture it;
    check_refused(it, any_product(product_id{0}), reject_reason::invalid_definition);
    check_refused(it, any_product(product_id{5}), reject_reason::at_capacity);
    check_refused(it, any_instrument(instrument_id{0}), reject_reason::invalid_definition);
    check_refused(it, any_instrument(instrument_id{9}), reject_reason::at_capacity);
    check_refused(it, any_account(65), reject_reason::at_capacity);
    check_refused(it, session_of(65'535, 1), reject_reason::at_capacity);
    CHECK(it.tell(any_instrument(instrument_id{8})).size() == 1);
    CHECK(it.tell(session_of(64, 1))[0].kind == event_kind::admin_accepted);
}

TEST_CASE("definitions that refer to nothing or make no sense are refused") {
    trading_fixture it;
    define_instrument orphan = any_instrument(instrument_id{2});
    orphan.product = product_id{3};
    check_refused(it, orphan, reject_reason::unknown_product);
    orphan.product = product_id{77};
    check_refused(it, orphan, reject_reason::unknown_product);
    orphan.product = product_id::none;
    check_refused(it, orphan, reject_reason::unknown_product);
    check_refused(it, session_of(5, 5), reject_reason::unknown_account);
    check_refused(it, session_of(5, 0), reject_reason::unknown_account);

    define_product product = any_product(product_id{2});
    product.multiplier = 0;
    check_refused(it, product, reject_reason::invalid_definition);
    define_account account = any_account(5);
    account.self_trade = self_trade_action::account_default;
    check_refused(it, account, reject_reason::invalid_definition);
    define_session session = session_of(5, 1);
    session.on_disconnect = disconnect_policy{2};
    check_refused(it, session, reject_reason::invalid_definition);
}

TEST_CASE("a market begins closed, opens, halts and goes on, and publishes each phase") {
    trading_fixture it;
    it.tell(any_instrument(instrument_id{2}));
    enter_order order = it.limit_order(1, order_side::buy, 1, 100);
    order.instrument = instrument_id{2};
    it.tell(order);
    CHECK(it.refusal() == reject_reason::market_closed);

    it.tell(set_phase{instrument_id{2}, market_phase::continuous});
    CHECK(it.lines() == lines{"accepted 36 2", "phase i2 2"});
    check_refused(it, set_phase{instrument_id{2}, market_phase{4}}, reject_reason::invalid_field);
    check_refused(it, set_phase{instrument_id{3}, market_phase::halted},
                  reject_reason::unknown_instrument);
}

TEST_CASE("during a halt orders stay, may be cancelled, and nothing else may be done") {
    trading_fixture it;
    it.enter(1, order_side::buy, 5, 100);
    it.enter(2, order_side::buy, 5, 99);
    it.tell(set_phase{future, market_phase::halted});

    it.enter(3, order_side::sell, 5, 100);
    CHECK(it.refusal() == reject_reason::market_halted);
    it.amend(1, 1, 4, 100);
    CHECK(it.refusal() == reject_reason::market_halted);
    it.tell(enter_quote{session_id{3}, it.next_seq(3), future, self_trade_action::account_default,
                        90, 110, 1, 1});
    CHECK(it.refusal() == reject_reason::market_halted);
    it.cancel(1, 1);
    CHECK(it.said().size() == 4);

    it.tell(set_phase{future, market_phase::continuous});
    it.enter(3, order_side::sell, 5, 99);
    CHECK(it.said().size() == 10);
}

TEST_CASE("the kill switch answers, cancels everything of the account, and takes no more") {
    trading_fixture it;
    it.tell(session_of(5, 1));
    it.enter(1, order_side::buy, 5, 100);
    it.enter(5, order_side::buy, 5, 99);
    it.enter(2, order_side::buy, 5, 98);

    it.tell(set_account_state{account_id{1}, account_state::blocked});

    CHECK(it.lines()[0] == "accepted 37 1");
    CHECK(it.lines()[1] == "cancelled 1.1 i1 a1 s1/1 buy 5@100 done 0 by 0 why 8");
    CHECK(it.said().size() == 9);
    CHECK(it.top().bid_price == 98);
    it.enter(5, order_side::buy, 5, 100);
    CHECK(it.refusal() == reject_reason::account_blocked);
    it.tell(set_account_state{account_id{1}, account_state::active});
    it.enter(5, order_side::buy, 5, 100);
    CHECK(it.refusal() == reject_reason::none);
    check_refused(it, set_account_state{account_id{9}, account_state::blocked},
                  reject_reason::unknown_account);
    check_refused(it, set_account_state{account_id{1}, account_state{3}},
                  reject_reason::invalid_field);
}

TEST_CASE("a session that ends takes its own orders along, if it was defined so") {
    trading_fixture it;
    define_session keeps = session_of(5, 1);
    keeps.on_disconnect = disconnect_policy::keep_orders;
    it.tell(keeps);
    it.enter(1, order_side::buy, 5, 100);
    it.enter(5, order_side::buy, 5, 99);

    it.tell(end_session{session_id{5}});
    CHECK(it.said().size() == 1);
    it.tell(end_session{session_id{1}});
    CHECK(it.said().size() == 5);
    CHECK(it.lines()[1] == "cancelled 1.1 i1 a1 s1/1 buy 5@100 done 0 by 0 why 9");
    CHECK(it.top().bid_price == 99);
    check_refused(it, end_session{session_id{6}}, reject_reason::unknown_session);
}

TEST_CASE("the day's end cancels day orders, best first, and begins the sums again") {
    trading_fixture it;
    it.enter(1, order_side::buy, 5, 99, time_in_force::day);
    it.enter(1, order_side::buy, 5, 100, time_in_force::good_till_cancel);
    it.enter(1, order_side::buy, 5, 100, time_in_force::day);
    it.enter(1, order_side::sell, 5, 5'000'000, time_in_force::day);
    it.enter(2, order_side::sell, 1, 100);

    it.tell(end_day{future});

    REQUIRE(it.said().size() == 1 + 4 + 3 + 4 + 2);
    CHECK(it.lines()[1] == "cancelled 3.1 i1 a1 s1/3 buy 5@100 done 0 by 0 why 10");
    CHECK(it.lines()[5] == "cancelled 1.1 i1 a1 s1/1 buy 5@99 done 0 by 0 why 10");
    CHECK(it.lines()[12] == "volume i1 0 in 0");
    CHECK(it.lines()[13] == "statistics i1 open 0 high 0 low 0 last 0 volume 0 in 0");
    CHECK(it.top().bid_quantity == 4);
    it.enter(2, order_side::sell, 1, 100);
    CHECK(it.lines()[3] == "volume i1 1 in 1");
    check_refused(it, end_day{instrument_id{4}}, reject_reason::unknown_instrument);
}

TEST_CASE("a listener that only follows the public sums begins the new day with the exchange") {
    trading_fixture it;
    market_statistics told{};
    volume_update volume{};
    const auto listen = [&] {
        for (const event& each : it.said()) {
            if (each.kind == event_kind::market_statistics) told = each.market_statistics;
            if (each.kind == event_kind::volume_update) volume = each.volume_update;
        }
    };
    it.enter(1, order_side::buy, 5, 100);
    it.enter(2, order_side::sell, 2, 100);
    listen();
    CHECK(told == it.partition().state().markets[1].day);
    CHECK(volume.volume == 2);

    it.tell(end_day{future});
    listen();

    CHECK(told == it.partition().state().markets[1].day);
    CHECK(told.trades == 0);
    CHECK(volume == volume_update{.volume = 0, .instrument = future, .trades = 0});
    it.tell(end_day{future});  // Without a trade and without an order.
    CHECK(it.kinds() == std::vector{event_kind::admin_accepted, event_kind::volume_update,
                                    event_kind::market_statistics});
}

TEST_CASE("a settlement price moves the collar, and leaves orders where they are") {
    trading_fixture it;
    define_instrument collared = any_instrument(instrument_id{2});
    collared.collar = 10;
    it.tell(collared);
    it.tell(set_phase{instrument_id{2}, market_phase::continuous});
    enter_order order = it.limit_order(1, order_side::buy, 4, 90);
    order.instrument = instrument_id{2};
    it.tell(order);

    it.tell(set_settlement_price{instrument_id{2}, 200});

    it.amend(1, 1, 3, 90);
    CHECK(it.refusal() == reject_reason::none);
    it.amend(1, 1, 3, 91);
    CHECK(it.refusal() == reject_reason::price_outside_collar);
    check_refused(it, set_settlement_price{instrument_id{2}, price_ticks_max + 1},
                  reject_reason::invalid_price);
    check_refused(it, set_settlement_price{instrument_id{5}, 0}, reject_reason::unknown_instrument);
}
