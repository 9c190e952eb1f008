// SPDX-License-Identifier: BSL-1.0
//
// What exchange/core/reference.hpp promises: ticks, collar, lots and value of an instrument.
#include <exchange/core/reference.hpp>

#include <exchange/tests/support/trading_fixture.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>

using namespace exchange;
using exchange::testing::any_instrument;
using exchange::testing::any_product;

namespace {

// Steps of 5 up to 1,000 and of 10 from there, around 1,000 by 100.
instrument_terms banded() {
    instrument_terms it{any_instrument(), any_product()};
    it.product.bands = 2;
    it.product.ticks[0] = {0, 5};
    it.product.ticks[1] = {1'000, 10};
    it.instrument.settlement_price = 1'000;
    it.instrument.collar = 100;
    return it;
}

valued_order buy(price_ticks limit, contracts quantity) {
    return {order_side::buy, limit, quantity};
}

valued_order sell(price_ticks limit, contracts quantity) {
    return {order_side::sell, limit, quantity};
}

}  // namespace

TEST_CASE("each band has its own tick, and below the first band the first tick holds") {
    instrument_terms it = banded();

    CHECK(check_price(it, 995) == reject_reason::none);
    CHECK(check_price(it, 1'000) == reject_reason::none);
    CHECK(check_price(it, 1'005) == reject_reason::price_off_tick);
    CHECK(check_price(it, 1'010) == reject_reason::none);
    it.instrument.collar = 0;
    CHECK(check_price(it, -15) == reject_reason::none);
    CHECK(check_price(it, -13) == reject_reason::price_off_tick);
    it.product.ticks[1].from = 1'005;  // The tick of a band holds from its first price on.
    CHECK(check_price(it, 1'005) == reject_reason::price_off_tick);
}

TEST_CASE("the collar includes its ends") {
    const instrument_terms it = banded();

    CHECK(check_price(it, 900) == reject_reason::none);
    CHECK(check_price(it, 895) == reject_reason::price_outside_collar);
    CHECK(check_price(it, 1'100) == reject_reason::none);
    CHECK(check_price(it, 1'110) == reject_reason::price_outside_collar);
    CHECK(market_limit(it, order_side::buy, 1'000) == 1'100);
    CHECK(market_limit(it, order_side::sell, 1'000) == 900);
}

TEST_CASE("a market order goes as far as the nearer of collar and band, and not without either") {
    instrument_terms it = banded();
    CHECK(is_protected(it));
    it.instrument.market_band = 30;

    CHECK(market_limit(it, order_side::buy, 1'000) == 1'030);
    CHECK(market_limit(it, order_side::buy, 1'090) == 1'100);
    CHECK(market_limit(it, order_side::sell, 1'000) == 970);
    CHECK(market_limit(it, order_side::sell, 910) == 900);
    it.instrument.collar = 0;
    CHECK(is_protected(it));
    CHECK(market_limit(it, order_side::buy, 1'090) == 1'120);
    CHECK(market_limit(it, order_side::sell, price_ticks_max) == price_ticks_max - 30);
    it.instrument.market_band = 0;
    CHECK_FALSE(is_protected(it));
}

TEST_CASE("an instrument is over at the end of its last day in UTC") {
    constexpr timestamp_ns second = 1'000'000'000;
    CHECK(end_of_expiry(19'700'101) == 86'400 * second);
    CHECK(end_of_expiry(20'000'229) == 951'868'800 * second);    // 2000-03-01T00:00:00Z
    CHECK(end_of_expiry(20'301'220) == 1'924'041'600 * second);  // 2030-12-21T00:00:00Z
    CHECK(end_of_expiry(21'000'228) ==
          4'107'542'400 * second);  // 2100-03-01, which is no leap year
    CHECK(end_of_expiry(22'001'231) == 7'289'654'400 * second);
    CHECK(end_of_expiry(0) == ~timestamp_ns{0});
}

TEST_CASE("an expiry is a day of the calendar, or none") {
    define_instrument it = any_instrument();
    for (const std::uint32_t good : {0u, 19'700'101u, 20'240'229u, 20'000'229u, 22'001'231u}) {
        it.expiry_yyyymmdd = good;
        CHECK_MESSAGE(is_sound(it), good);
    }
    for (const std::uint32_t bad :
         {1u, 19'691'231u, 20'230'229u, 21'000'229u, 20'240'431u, 20'241'301u, 20'240'001u,
          20'240'100u, 22'010'101u, 4'294'967'295u}) {
        it.expiry_yyyymmdd = bad;
        CHECK_FALSE_MESSAGE(is_sound(it), bad);
    }
}

TEST_CASE("no price lies beyond the last, however it is asked for") {
    const instrument_terms it{any_instrument(), any_product()};

    CHECK(check_price(it, price_ticks_max) == reject_reason::none);
    CHECK(check_price(it, -price_ticks_max) == reject_reason::none);
    CHECK(check_price(it, price_ticks_max + 1) == reject_reason::invalid_price);
    CHECK(check_price(it, std::numeric_limits<price_ticks>::min()) == reject_reason::invalid_price);
    CHECK(check_price(it, std::numeric_limits<price_ticks>::max()) == reject_reason::invalid_price);
}

TEST_CASE("quantities are lots, at least one and at most the limit") {
    instrument_terms it{any_instrument(), any_product()};
    it.product.lot = 5;
    it.instrument.order_quantity_max = 20;

    CHECK(check_quantity(it, 0) == reject_reason::invalid_quantity);
    CHECK(check_quantity(it, 4) == reject_reason::invalid_quantity);
    CHECK(check_quantity(it, 20) == reject_reason::none);
    CHECK(check_quantity(it, 25) == reject_reason::quantity_over_max);
}

TEST_CASE("a value that does not fit 63 bits is too much, without any limit") {
    instrument_terms it{any_instrument(), any_product()};

    CHECK(check_value(it, buy(price_ticks_max, 0xffff)) == reject_reason::none);
    CHECK(check_value(it, buy(price_ticks_max, 0xffff'ffff)) == reject_reason::value_over_max);
    CHECK(check_value(it, buy(-price_ticks_max, 0xffff'ffff)) == reject_reason::value_over_max);
    it.product.multiplier = 0xffff'ffff;
    CHECK(check_value(it, buy(1 << 20, 1 << 20)) == reject_reason::value_over_max);
}

TEST_CASE("the limit of value counts the multiplier, and a price below zero like one above") {
    instrument_terms it{any_instrument(), any_product()};
    it.product.multiplier = 10;
    it.instrument.order_value_max = 1'000;

    CHECK(check_value(it, buy(20, 5)) == reject_reason::none);
    CHECK(check_value(it, buy(20, 6)) == reject_reason::value_over_max);
    CHECK(check_value(it, buy(-20, 6)) == reject_reason::value_over_max);
}

TEST_CASE("a sell counts at the upper end of the collar, where it may be filled") {
    instrument_terms it{any_instrument(), any_product()};
    it.instrument.settlement_price = 1'000;
    it.instrument.collar = 1'000;
    it.instrument.order_value_max = 20'000;

    for (const price_ticks limit : {0, 1, 1'999, 2'000}) {
        CHECK(check_value(it, sell(limit, 10)) == reject_reason::none);
        CHECK(check_value(it, sell(limit, 11)) == reject_reason::value_over_max);
    }
    CHECK(check_value(it, sell(-2'001, 10)) == reject_reason::value_over_max);
    CHECK(check_value(it, buy(1, 20'000)) == reject_reason::none);
    CHECK(check_value(it, buy(1, 20'001)) == reject_reason::value_over_max);
    it.instrument.collar = 0;  // Then there is no bound on its price.
    CHECK(check_value(it, sell(1, 20'000)) == reject_reason::none);
}

TEST_CASE("below zero a buy counts at the lower end of the collar") {
    instrument_terms it{any_instrument(), any_product()};
    it.instrument.settlement_price = -1'000;
    it.instrument.collar = 1'000;
    it.instrument.order_value_max = 20'000;

    CHECK(check_value(it, buy(-1, 10)) == reject_reason::none);
    CHECK(check_value(it, buy(-1, 11)) == reject_reason::value_over_max);
    CHECK(check_value(it, sell(-1, 20'000)) == reject_reason::none);
    CHECK(check_value(it, sell(-1, 20'001)) == reject_reason::value_over_max);
}

TEST_CASE("the far end of the widest collar is more than any price, and still does not wrap") {
    instrument_terms it{any_instrument(), any_product()};
    it.instrument.collar = price_ticks_max;
    // The end is 2^48 - 2, so 2^15 contracts just fit 63 bits and 2^16 do not.
    it.instrument.settlement_price = price_ticks_max;
    CHECK(check_value(it, sell(1, 1 << 15)) == reject_reason::none);
    CHECK(check_value(it, sell(1, 1 << 16)) == reject_reason::value_over_max);
    CHECK(check_value(it, sell(1, 0xffff'ffff)) == reject_reason::value_over_max);
    it.instrument.settlement_price = -price_ticks_max;
    CHECK(check_value(it, buy(-1, 1 << 15)) == reject_reason::none);
    CHECK(check_value(it, buy(-1, 1 << 16)) == reject_reason::value_over_max);
    it.product.multiplier = 0xffff'ffff;
    CHECK(check_value(it, buy(-1, 1)) == reject_reason::value_over_max);
}

TEST_CASE("products and instruments that make no sense are not sound") {
    define_product product = any_product();
    CHECK(is_sound(product));
    product.lot = 0;
    CHECK_FALSE(is_sound(product));
    product = any_product();
    product.bands = tick_bands_max + 1;
    CHECK_FALSE(is_sound(product));
    product.bands = 2;
    product.ticks[0] = {0, 5};
    product.ticks[1] = {0, 10};
    CHECK_FALSE(is_sound(product));
    product.ticks[1] = {1, 0};
    CHECK_FALSE(is_sound(product));

    define_instrument instrument = any_instrument();
    CHECK(is_sound(instrument));
    instrument.collar = -1;
    CHECK_FALSE(is_sound(instrument));
    instrument = any_instrument();
    instrument.type = instrument_kind{9};
    CHECK_FALSE(is_sound(instrument));
}

TEST_CASE("a trigger is asked what a price is asked, but for the collar") {
    instrument_terms it{any_instrument(), any_product()};
    it.instrument.collar = 5;
    it.product.bands = 1;
    it.product.ticks[0] = {0, 5};

    CHECK(check_trigger(it, 1'000) == reject_reason::none);
    CHECK(check_trigger(it, 1'001) == reject_reason::price_off_tick);
    CHECK(check_trigger(it, price_ticks_max + 1) == reject_reason::invalid_price);
}

TEST_CASE(
    "a market order is valued at its limit, or at the price that it meets if no collar bounds "
    "that") {
    instrument_terms it{any_instrument(), any_product()};
    it.instrument.market_band = 10;
    const priced bought = price_at_market(it, order_side::buy, 100);
    CHECK(bought.limit == 110);
    CHECK(bought.valued_at == 110);
    const priced sold = price_at_market(it, order_side::sell, 100);
    CHECK(sold.limit == 90);
    CHECK(sold.valued_at == 100);
    it.instrument.collar = 5;
    CHECK(price_at_market(it, order_side::sell, 100).valued_at == 95);
}

TEST_CASE("a day is one that the calendar has, in years that a timestamp reaches") {
    for (const std::uint32_t each : {19'700'101u, 20'000'229u, 22'001'231u}) CHECK(is_date(each));
    for (const std::uint32_t each : {0u, 19'691'231u, 21'000'229u, 20'300'431u, 22'010'101u})
        CHECK_FALSE(is_date(each));
}
