// SPDX-License-Identifier: BSL-1.0
//
// The rules for the operator, each once more by hand: definitions that change, what ends for good, and what
// accounts bring along. rules_test.cpp says why.
#include <exchange/core/reference.hpp>
#include <exchange/tests/support/judged_fixture.hpp>

#include <doctest/doctest.h>

#include <limits>

using namespace exchange;
using namespace exchange::testing;
using enum exchange::order_side;

namespace {

constexpr timestamp_ns end_of_2030_12_20 = 1'924'041'600'000'000'000;

retire retired(definition_kind what, std::uint32_t number) { return {what, number}; }

template <class Definition>
Definition changed(Definition it) {
    it.action = definition_action::change;
    return it;
}

}  // namespace

// ---------------------------------------------------------------------------------------------
// Expiry
// ---------------------------------------------------------------------------------------------

TEST_CASE("an expiry is a date of the calendar, or none") {
    judged_fixture it;
    std::uint32_t next = 2;
    define_instrument terms = any_instrument();

    for (const std::uint32_t good : {0u, 19'700'101u, 20'000'229u, 20'320'229u, 22'001'231u}) {
        terms.instrument = instrument_id{next++};
        terms.expiry_yyyymmdd = good;
        it.both_accept(terms);
    }
    terms.instrument = instrument_id{next};
    for (const std::uint32_t bad : {1u, 19'691'231u, 20'301'301u, 20'300'001u, 20'301'200u,
                                    20'301'131u, 20'310'229u, 21'000'229u, 22'010'101u, ~0u}) {
        terms.expiry_yyyymmdd = bad;
        it.both_refuse(terms, reject_reason::invalid_definition);
    }
}

TEST_CASE("a market takes orders until the last nanosecond of its last day") {
    judged_fixture it;
    it.set_time(end_of_2030_12_20 - 1);
    it.both_say(it.order(1, buy, 5, 100), {"entered 1.0 i1 a1 s1/1 buy 5@100 done 0 tif 2"});
    it.tell(it.quote(3, 1, 99, 0, 0));

    it.set_time(end_of_2030_12_20);

    it.both_refuse(it.order(1, buy, 5, 100), reject_reason::market_closed);
    it.both_refuse(it.quote(1, 5, 99, 5, 101), reject_reason::market_closed);
    it.both_refuse(it.amend(1, entered_as(1), 4, 100), reject_reason::market_closed);
    it.both_say(it.quote(3, 0, 0, 0, 0), {"cancelled 2.0 i1 a2 s3/1 buy 1@99 done 0 by 2 why 1"});
    it.both_say(it.cancel(1, entered_as(1)),
                {"cancelled 1.0 i1 a1 s1/1 buy 5@100 done 0 by 5 why 1"});
}

TEST_CASE(
    "what is over is closed, even where it was halted, and opens by no command but a new date") {
    judged_fixture it;
    it.tell(set_phase{future, market_phase::halted});
    it.set_time(end_of_2030_12_20);

    it.both_refuse(it.order(1, buy, 5, 100), reject_reason::market_closed);
    it.both_refuse(set_phase{future, market_phase::continuous}, reject_reason::out_of_use);
    it.both_refuse(set_phase{future, market_phase::halted}, reject_reason::out_of_use);
    it.both_refuse(set_phase{future, market_phase::ended}, reject_reason::invalid_field);
    it.both_accept(set_phase{future, market_phase::closed}, {"phase i1 1"});
    it.both_accept(set_settlement_price{future, 90});
    define_instrument later = changed_future();
    later.expiry_yyyymmdd = 20'301'221;
    it.both_accept(later);
    it.both_accept(set_phase{future, market_phase::continuous}, {"phase i1 2"});
    it.both_say(it.order(1, buy, 5, 100), {"entered 1.0 i1 a1 s1/2 buy 5@100 done 0 tif 2"});
}

TEST_CASE("expiry ends each market whose day is over, its best buyers first") {
    judged_fixture it;
    define_instrument other = any_instrument(instrument_id{2});
    other.expiry_yyyymmdd = 0;
    it.tell(other);
    other = any_instrument(instrument_id{3});
    other.expiry_yyyymmdd = 20'301'219;
    it.tell(other);
    it.tell(it.order(1, buy, 5, 98));
    it.tell(it.order(1, sell, 5, 103));
    it.tell(it.order(3, buy, 6, 99));
    it.tell(it.order(3, sell, 6, 103));
    it.tell(it.order(5, buy, 7, 99));
    it.tell(it.order(5, sell, 7, 102));
    it.both_accept(expire_instruments{});
    it.set_time(end_of_2030_12_20);

    it.both_accept(expire_instruments{},
                   {"phase i1 4", "cancelled 3.0 i1 a2 s3/1 buy 6@99 done 0 by 0 why 11",
                    "cancelled 5.0 i1 a3 s5/1 buy 7@99 done 0 by 0 why 11",
                    "cancelled 1.0 i1 a1 s1/1 buy 5@98 done 0 by 0 why 11",
                    "cancelled 6.0 i1 a3 s5/2 sell 7@102 done 0 by 0 why 11",
                    "cancelled 2.0 i1 a1 s1/2 sell 5@103 done 0 by 0 why 11",
                    "cancelled 4.0 i1 a2 s3/2 sell 6@103 done 0 by 0 why 11", "phase i3 4"});
    it.both_accept(expire_instruments{});
}

// ---------------------------------------------------------------------------------------------
// Retirement
// ---------------------------------------------------------------------------------------------

TEST_CASE("a market that is retired ends, and stays as it is") {
    judged_fixture it;
    it.tell(it.order(1, sell, 5, 103));
    it.tell(it.order(3, buy, 6, 99));

    it.both_accept(retired(definition_kind::instrument, 1),
                   {"phase i1 4", "cancelled 2.0 i1 a2 s3/1 buy 6@99 done 0 by 0 why 12",
                    "cancelled 1.0 i1 a1 s1/1 sell 5@103 done 0 by 0 why 12"});
    it.both_refuse(retired(definition_kind::instrument, 1), reject_reason::out_of_use);
    it.both_refuse(set_phase{future, market_phase::closed}, reject_reason::out_of_use);
    it.both_refuse(set_settlement_price{future, 90}, reject_reason::out_of_use);
    it.both_refuse(end_day{future}, reject_reason::out_of_use);
    it.both_refuse(changed_future(), reject_reason::out_of_use);
    it.both_refuse(any_instrument(), reject_reason::already_defined);
    it.both_refuse(set_position{account_id{1}, future, 5}, reject_reason::out_of_use);
    it.both_refuse(it.order(1, buy, 5, 100), reject_reason::market_closed);
    it.both_refuse(it.cancel_all(1), reject_reason::nothing_to_cancel);
    it.both_refuse(it.quote(1, 0, 0, 0, 0), reject_reason::nothing_to_cancel);
}

TEST_CASE("an account that is retired enters nothing any more, and stays as it is") {
    judged_fixture it;
    it.tell(it.order(1, sell, 5, 103));
    it.tell(it.order(2, buy, 6, 99));
    it.tell(it.amend(1, entered_as(1), 6, 102));  // Keeps its place among its account's orders.

    it.both_accept(retired(definition_kind::account, 1),
                   {"cancelled 1.0 i1 a1 s1/1 sell 6@102 done 0 by 0 why 12",
                    "cancelled 2.0 i1 a1 s2/1 buy 6@99 done 0 by 0 why 12"});
    it.both_refuse(retired(definition_kind::account, 1), reject_reason::out_of_use);
    it.both_refuse(it.order(1, buy, 5, 100), reject_reason::account_blocked);
    it.both_refuse(it.cancel(1, entered_as(1)), reject_reason::unknown_order);
    it.both_refuse(it.cancel_all(2), reject_reason::nothing_to_cancel);
    it.both_refuse(set_account_state{account_id{1}, account_state::active},
                   reject_reason::out_of_use);
    it.both_refuse(changed(any_account(1)), reject_reason::out_of_use);
    it.both_refuse(any_account(1), reject_reason::already_defined);
    it.both_refuse(session_of(9, 1), reject_reason::out_of_use);
    it.both_refuse(changed(session_of(1, 1)), reject_reason::out_of_use);
    it.both_refuse(set_position{account_id{1}, future, 5}, reject_reason::out_of_use);
}

TEST_CASE("a session that is retired is unknown, and its sister is not") {
    judged_fixture it;
    it.tell(it.order(1, sell, 5, 103));
    it.tell(it.order(2, buy, 6, 99));

    it.both_accept(retired(definition_kind::session, 1),
                   {"cancelled 1.0 i1 a1 s1/1 sell 5@103 done 0 by 0 why 12"});
    it.both_refuse(retired(definition_kind::session, 1), reject_reason::out_of_use);
    it.both_refuse(it.order(1, buy, 5, 100), reject_reason::unknown_session);
    it.both_refuse(it.cancel_all(1), reject_reason::unknown_session);
    it.both_refuse(end_session{session_id{1}}, reject_reason::unknown_session);
    it.both_refuse(changed(session_of(1, 1)), reject_reason::out_of_use);
    it.both_refuse(session_of(1, 1), reject_reason::already_defined);
    it.both_say(it.cancel(2, entered_as(1)),
                {"cancelled 2.0 i1 a1 s2/1 buy 6@99 done 0 by 2 why 1"});
}

TEST_CASE("of a product that is retired nothing new is defined, and what there is goes on") {
    judged_fixture it;

    it.both_accept(retired(definition_kind::product, 1));
    it.both_refuse(retired(definition_kind::product, 1), reject_reason::out_of_use);
    it.both_refuse(any_instrument(instrument_id{2}), reject_reason::out_of_use);
    it.both_refuse(changed(any_product()), reject_reason::out_of_use);
    it.both_refuse(any_product(), reject_reason::already_defined);
    it.both_accept(changed_future());
    it.both_say(it.order(1, buy, 5, 100), {"entered 1.0 i1 a1 s1/1 buy 5@100 done 0 tif 2"});
}

TEST_CASE("what is not there is not retired") {
    judged_fixture it;
    using enum definition_kind;

    it.both_refuse(retired(definition_kind{0}, 1), reject_reason::invalid_field);
    it.both_refuse(retired(definition_kind{5}, 99), reject_reason::invalid_field);
    for (const std::uint32_t number : {0u, 4u, 7u, 999u, 65'537u, 0xffff'ffffu}) {
        if (number != 4) it.both_refuse(retired(session, number), reject_reason::unknown_session);
        it.both_refuse(retired(product, number), reject_reason::unknown_product);
        it.both_refuse(retired(instrument, number), reject_reason::unknown_instrument);
        it.both_refuse(retired(account, number), reject_reason::unknown_account);
    }
}

// ---------------------------------------------------------------------------------------------
// Changes
// ---------------------------------------------------------------------------------------------

TEST_CASE("what was not defined is not changed, and no action is neither") {
    judged_fixture it;

    it.both_refuse(changed(any_product(product_id{2})), reject_reason::unknown_product);
    it.both_refuse(changed(any_product(product_id{5})), reject_reason::at_capacity);
    it.both_refuse(changed(any_product(product_id{0})), reject_reason::invalid_definition);
    it.both_refuse(changed(any_instrument(instrument_id{2})), reject_reason::unknown_instrument);
    it.both_refuse(changed(any_account(4)), reject_reason::unknown_account);
    it.both_refuse(changed(session_of(7, 1)), reject_reason::unknown_session);
    it.both_refuse(changed(session_of(1, 4)), reject_reason::unknown_account);
    define_product neither = any_product(product_id{5});
    neither.action = definition_action{2};
    it.both_refuse(neither, reject_reason::invalid_definition);
}

TEST_CASE("what makes a thing what it is does not change") {
    judged_fixture it;
    define_product product = changed(any_product());
    product.multiplier = 2;
    it.both_refuse(product, reject_reason::not_changeable);
    define_account account = changed(any_account(1));
    account.firm = firm_id{2};
    it.both_refuse(account, reject_reason::not_changeable);
    it.both_refuse(changed(session_of(1, 2)), reject_reason::not_changeable);
    define_instrument terms = changed_future();

    SUBCASE("a product") { terms.product = product_id{3}; }
    SUBCASE("a type") { terms.type = instrument_kind::put; }
    SUBCASE("a strike") { terms.strike = 1; }

    it.both_refuse(terms, reject_reason::not_changeable);
    terms.market_band = -1;
    it.both_refuse(terms, reject_reason::invalid_definition);
}

TEST_CASE("a changed product holds at once for every market of it") {
    judged_fixture it;
    define_product coarse = changed(any_product());
    coarse.lot = 5;
    coarse.bands = 1;
    coarse.ticks[0] = {0, 10};
    it.both_accept(coarse);

    it.both_refuse(it.order(1, buy, 5, 95), reject_reason::price_off_tick);
    it.both_refuse(it.order(1, buy, 6, 100), reject_reason::invalid_quantity);
    it.both_say(it.order(1, buy, 5, 100), {"entered 1.0 i1 a1 s1/3 buy 5@100 done 0 tif 2"});
}

TEST_CASE("a changed session keeps its sequence, and a changed market its phase and orders") {
    judged_fixture it;
    it.tell(it.order(1, buy, 5, 100));
    define_session kept = changed(session_of(1, 1));
    kept.on_disconnect = disconnect_policy::keep_orders;
    it.both_accept(kept);
    it.both_accept(changed_future());

    it.both_refuse(cancel_order{session_id{1}, client_sequence{1}, entered_as(1)},
                   reject_reason::duplicate_client_sequence);
    it.both_accept(end_session{session_id{1}});
    it.both_say(it.amend(1, entered_as(1), 4, 100),
                {"amended 1.0 i1 a1 s1/1 buy 4@100 done 0 by 2 priority 1 why 1"});
}

TEST_CASE("an account decides what becomes of self-trades, and may allow them") {
    judged_fixture it;
    define_account made = any_account(4);
    made.self_trade = self_trade_action::account_default;
    it.both_refuse(made, reject_reason::invalid_definition);
    made.self_trade = self_trade_action{6};
    it.both_refuse(made, reject_reason::invalid_definition);
    made.self_trade = self_trade_action::allow;
    it.both_accept(made);
}

// ---------------------------------------------------------------------------------------------
// Positions
// ---------------------------------------------------------------------------------------------

TEST_CASE("a position is brought along into a closed market, and counts from then on") {
    judged_fixture it;
    define_account limited = changed(any_account(1));
    limited.position_max = 100;
    it.tell(limited);
    it.both_refuse(set_position{account_id{1}, future, 95}, reject_reason::not_permitted);
    it.tell(set_phase{future, market_phase::closed});

    it.both_accept(set_position{account_id{1}, future, -95});
    it.both_accept(set_position{account_id{1}, future, 95});

    it.tell(set_phase{future, market_phase::continuous});
    it.both_refuse(it.order(1, buy, 6, 100), reject_reason::position_over_max);
    it.both_say(it.order(1, buy, 5, 100), {"entered 1.0 i1 a1 s1/2 buy 5@100 done 0 tif 2"});
}

TEST_CASE("a position has an account, a market and a limit") {
    judged_fixture it;
    const auto both_refuse = [&](std::uint32_t account, std::uint32_t in, std::int64_t position,
                                 reject_reason why) {
        it.both_refuse(set_position{account_id{account}, instrument_id{in}, position}, why);
    };

    both_refuse(0, 0, 1, reject_reason::unknown_account);
    both_refuse(9, 0, 1, reject_reason::unknown_account);
    both_refuse(1, 0, 1, reject_reason::unknown_instrument);
    both_refuse(1, 0xffff'ffff, 1, reject_reason::unknown_instrument);
    both_refuse(1, 1, position_limit + 1, reject_reason::invalid_quantity);
    both_refuse(1, 1, -position_limit - 1, reject_reason::invalid_quantity);
    both_refuse(1, 1, std::numeric_limits<std::int64_t>::min(), reject_reason::invalid_quantity);
    both_refuse(1, 1, position_limit, reject_reason::not_permitted);
    it.tell(set_phase{future, market_phase::closed});
    it.both_accept(set_position{account_id{1}, future, position_limit});
    it.both_accept(set_position{account_id{1}, future, -position_limit});
    it.both_accept(set_position{account_id{1}, future, 0});
}

TEST_CASE("behind an expiry the next one is known") {
    trading_fixture it;
    define_instrument later = any_instrument(instrument_id{2});
    later.expiry_yyyymmdd = 20'310'115;
    it.tell(later);
    CHECK(it.partition().next_expiry() == end_of_expiry(20'301'220));
    it.wait(end_of_expiry(20'301'220));
    it.tell(expire_instruments{});
    CHECK(it.partition().next_expiry() == end_of_expiry(20'310'115));
    it.wait(end_of_expiry(20'310'115));
    it.tell(expire_instruments{});
    CHECK(it.partition().next_expiry() == ~timestamp_ns{0});
}
