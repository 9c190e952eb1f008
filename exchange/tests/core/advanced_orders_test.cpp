// SPDX-License-Identifier: BSL-1.0
//
// What exchange/core/advanced_orders.cpp promises of checks: each refusal has its reason, and leaves no
// trace.
// What is not refused is in rules_of_advanced_orders_test.cpp.
#include <exchange/core/partition.hpp>

#include <exchange/tests/support/trading_fixture.hpp>

#include <doctest/doctest.h>

#include <limits>

using namespace exchange;
using namespace exchange::testing;

namespace {

using enum reject_reason;

constexpr timestamp_ns day = timestamp_ns{86'400} * 1'000'000'000;

// With ticks of 5 and lots of 2, at most 50 at once, within 30 of 100.
struct strict_market : trading_fixture {
    strict_market() {
        define_product product = any_product();
        product.action = definition_action::change;
        product.lot = 2;
        product.bands = 1;
        product.ticks[0] = {0, 5};
        tell(product);
        define_instrument terms = any_instrument();
        terms.action = definition_action::change;
        terms.collar = 30;
        terms.order_quantity_max = 50;
        terms.order_value_max = 5'000;
        tell(terms);
    }
    [[nodiscard]] enter_advanced_order wanted() {
        return stop(limit_order(1, order_side::buy, 10, 110), 105);
    }
    void refuses(const enter_advanced_order& it, reject_reason why) {
        tell(it);
        CHECK(refusal() == why);
        CHECK(partition().state().memory.orders.in_use() == 0);
        CHECK(partition().state().accounts[1].open_orders == 0);
    }
};

}  // namespace

TEST_CASE("an advanced order is refused for what any order is refused for") {
    struct wrong_order {
        reject_reason why;
        void (*spoil)(enter_advanced_order& it);
    };
    using order = enter_advanced_order;
    const wrong_order all[] = {
        {unknown_session, [](order& it) { it.session = session_id{60}; }},
        {unknown_instrument, [](order& it) { it.instrument = instrument_id{7}; }},
        {invalid_field, [](order& it) { it.side = order_side{2}; }},
        {invalid_field, [](order& it) { it.type = order_type{5}; }},
        {invalid_field, [](order& it) { it.tif = time_in_force{6}; }},
        {invalid_field, [](order& it) { it.self_trade = self_trade_action{6}; }},
        {price_off_tick, [](order& it) { it.price = 111; }},
        {price_outside_collar, [](order& it) { it.price = 135; }},
        {invalid_price, [](order& it) { it.price = price_ticks_max + 1; }},
        {invalid_quantity, [](order& it) { it.quantity = 9; }},
        {quantity_over_max, [](order& it) { it.quantity = 52; }},
        {value_over_max, [](order& it) { it.quantity = 50; }},
    };
    for (const auto& [why, spoil] : all) {
        strict_market it;
        order wanted = it.wanted();
        spoil(wanted);
        it.refuses(wanted, why);
    }
}

TEST_CASE("nothing that is advanced is entered in a halt") {
    strict_market it;
    it.tell(set_phase{future, market_phase::halted});
    it.refuses(it.wanted(), market_halted);
}

TEST_CASE("a trigger is a price on a tick, and may lie where the collar does not reach yet") {
    strict_market it;
    const auto waiting_for = [&](price_ticks trigger) {
        enter_advanced_order made = it.wanted();
        made.trigger_price = trigger;
        return made;
    };
    it.refuses(waiting_for(106), price_off_tick);
    it.refuses(waiting_for(price_ticks_max + 1), invalid_price);
    it.refuses(waiting_for(std::numeric_limits<price_ticks>::min()), invalid_price);
    it.tell(waiting_for(1'000));
    CHECK(it.refusal() == none);
}

TEST_CASE("at the market no price is looked at, but what bounds it") {
    strict_market it;
    enter_advanced_order at_market = it.wanted();
    at_market.type = order_type::stop;
    at_market.price = std::numeric_limits<price_ticks>::min();
    it.tell(at_market);
    CHECK(it.refusal() == none);
}

TEST_CASE("an order that is advanced and goes at once needs a counterparty where that is asked") {
    trading_fixture it;
    define_instrument terms = any_instrument();
    terms.action = definition_action::change;
    terms.lone_orders = lone_order_policy::reject;
    it.tell(terms);
    enter_advanced_order hasty =
        advanced(it.limit_order(1, order_side::buy, 5, 100, time_in_force::immediate_or_cancel));
    hasty.minimum_quantity = 2;
    it.tell(hasty);
    CHECK(it.refusal() == no_counterparty);
}

TEST_CASE("a passive order that is advanced does not trade") {
    trading_fixture it;
    it.enter(2, order_side::sell, 1, 100);
    enter_advanced_order passive = iceberg(it.limit_order(1, order_side::buy, 5, 100), 2);
    passive.instruction = execution_instruction::post_only;
    it.tell(passive);
    CHECK(it.refusal() == would_trade);
}

TEST_CASE("a stop takes a place in the slab, and a level of its own") {
    partition_limits limits = small_limits();
    SUBCASE("of which one is left") { limits.orders_max = 1; }
    SUBCASE("for which there is one chunk") { limits.level_chunks_max = 1; }
    trading_fixture it{limits};
    it.tell(stop(it.limit_order(1, order_side::buy, 5, 100), 105));
    CHECK(it.refusal() == none);
    it.tell(stop(it.limit_order(1, order_side::sell, 5, 100), 95));
    CHECK(it.refusal() == at_capacity);
    it.cancel(1, 1);
    CHECK(it.partition().state().memory.orders.in_use() == 0);
    CHECK(it.partition().state().memory.levels.chunks.in_use() == 0);
}

TEST_CASE("a stop for whose limit there is no room any more is cancelled when it is triggered") {
    partition_limits limits = small_limits();
    limits.level_chunks_max = 2;
    trading_fixture it{limits};
    it.tell(stop(it.limit_order(1, order_side::buy, 5, 50), 105));
    it.tell(stop(it.limit_order(1, order_side::buy, 5, 50), 110));
    it.enter(2, order_side::sell, 2, 105);
    it.enter(3, order_side::buy, 1, 105, time_in_force::immediate_or_cancel);
    CHECK(it.said().back().kind == event_kind::order_cancelled);
    CHECK(it.said().back().order_cancelled.reason == cancel_reason::at_capacity);
    CHECK(it.partition().state().memory.orders.in_use() == 2);
}

TEST_CASE("the timer is told of the first last day, of markets and of orders") {
    trading_fixture it;
    const timestamp_ns of_market = it.partition().next_expiry();
    enter_advanced_order dated = advanced(it.limit_order(1, order_side::buy, 5, 90));
    dated.tif = time_in_force::good_till_date;
    dated.expiry_yyyymmdd = 19'700'102;
    it.tell(dated);
    CHECK(it.partition().next_expiry() == 2 * day);

    it.cancel(1, 1);
    it.wait(2 * day);
    it.tell(expire_instruments{});
    CHECK(it.partition().next_expiry() == of_market);
}

TEST_CASE("a GTD order that never rests is nothing for the timer") {
    trading_fixture it;
    it.enter(2, order_side::sell, 5, 100);
    const timestamp_ns before = it.partition().next_expiry();
    enter_advanced_order dated = advanced(it.limit_order(1, order_side::buy, 5, 100));
    dated.tif = time_in_force::good_till_date;
    dated.expiry_yyyymmdd = 19'700'102;
    it.tell(dated);
    CHECK(it.partition().next_expiry() == before);
    CHECK(it.partition().state().memory.advanced.first_dated() == 0);
}
