// SPDX-License-Identifier: BSL-1.0
//
// What exchange/core/protection.hpp promises: fills are counted in windows, and too many withdraw quotes; and
// the rules about that, of core and model alike.
#include <exchange/core/protection.hpp>

#include <exchange/tests/support/judged_fixture.hpp>

#include <doctest/doctest.h>

using namespace exchange;
using namespace exchange::testing;
using enum exchange::order_side;

namespace {

using lines = judged_fixture::lines;

// Account 1 quotes 5 at 100 and 5 at 101 in the futures 1 and 2, both of product 1.
struct quoting_venue : judged_fixture {
    quoting_venue() {
        both_accept(any_instrument(instrument_id{2}));
        both_accept(set_phase{instrument_id{2}, market_phase::continuous}, {"phase i2 2"});
    }
    [[nodiscard]] enter_quote quote_in(std::uint32_t instrument) {
        enter_quote it = quote(1, 5, 100, 5, 101);
        it.instrument = instrument_id{instrument};
        return it;
    }
    [[nodiscard]] set_protection protection(contracts quantity, contracts delta,
                                            std::uint32_t trades, timestamp_ns window = 1'000) {
        return {session_id{2}, next_seq(2), product_id{1}, window, quantity, delta, trades};
    }
    /// Account 2 sells to, or buys from, the quote in market 1; what comes behind the fill.
    lines hit(order_side side, contracts quantity) {
        lines said = tell(order(3, side, quantity, side == sell ? 100 : 101));
        REQUIRE(said.size() >= 3);
        said.erase(said.begin(), said.begin() + 3);
        return said;
    }
};

}  // namespace

TEST_CASE("a window begins with the first fill that lies in none, and forgets when it is over") {
    protection it{};
    set_protection wanted{};
    wanted.window_ns = 10;
    wanted.trades_max = 2;
    set(it, wanted);

    CHECK_FALSE(strikes(it, 100, buy, 1));
    CHECK_FALSE(strikes(it, 109, buy, 1));
    CHECK_FALSE(strikes(it, 110, buy, 1));  // The next window.
    CHECK_FALSE(strikes(it, 111, buy, 1));
    CHECK(strikes(it, 119, buy, 1));
    CHECK_FALSE(strikes(it, 119, buy, 1));  // Once.
    set(it, wanted);
    CHECK_FALSE(strikes(it, 119, buy, 1));
}

TEST_CASE("quantity adds up, delta does so with its sign, and nothing bounds what is not asked") {
    set_protection wanted{};
    wanted.window_ns = 10;
    protection quantity{};
    wanted.quantity_max = 9;
    set(quantity, wanted);
    CHECK_FALSE(strikes(quantity, 0, buy, 5));
    CHECK_FALSE(strikes(quantity, 0, sell, 4));
    CHECK(strikes(quantity, 0, sell, 1));

    protection delta{};
    wanted.quantity_max = 0;
    wanted.delta_max = 4;
    set(delta, wanted);
    CHECK_FALSE(strikes(delta, 0, sell, 4));
    CHECK_FALSE(strikes(delta, 0, buy, 8));
    CHECK(strikes(delta, 0, buy, 1));
    CHECK(delta.delta == 5);
    CHECK(delta.quantity == 13);
    CHECK(delta.trades == 3);

    protection none{};
    CHECK_FALSE(strikes(none, 0, buy, 0xffff'ffff));
}

TEST_CASE("a protection that is struck withdraws all quotes of the product, and takes no more") {
    quoting_venue it;
    it.both_say(it.protection(4, 0, 0),
                {"protected a1 p1 s2/1 within 1000 quantity 4 delta 0 trades 0"});
    it.tell(it.quote_in(1));
    it.tell(it.quote_in(2));

    const lines said = it.hit(sell, 5);
    CHECK(said == lines{"struck a1 p1 s2/1 quantity 5 delta 5 trades 1",
                        "cancelled 2.0 i1 a1 s1/1 sell 5@101 done 0 by 0 why 23",
                        "cancelled 3.0 i2 a1 s1/2 buy 5@100 done 0 by 0 why 23",
                        "cancelled 4.0 i2 a1 s1/2 sell 5@101 done 0 by 0 why 23"});
    it.both_refuse(it.quote_in(2), reject_reason::protection_struck);
    // Orders that are no quotes, and what withdraws, are not concerned.
    it.both_say(it.order(1, buy, 1, 90), {"entered 6.0 i1 a1 s1/4 buy 1@90 done 0 tif 2"});
    enter_quote nothing = it.quote_in(1);
    nothing.bid_quantity = nothing.ask_quantity = 0;
    it.both_refuse(nothing, reject_reason::nothing_to_cancel);

    it.tell(it.protection(4, 0, 0));
    CHECK(it.tell(it.quote_in(2)).size() == 2);
}

TEST_CASE("a protection without a window is none, and one that is set again begins anew") {
    quoting_venue it;
    it.tell(it.protection(4, 0, 0));
    it.tell(it.quote_in(1));
    CHECK(it.hit(sell, 3).empty());
    SUBCASE("anew") {
        it.tell(it.protection(4, 0, 0));
        CHECK(it.hit(sell, 2).empty());
    }
    SUBCASE("none") {
        it.tell(it.protection(0, 0, 0, 0));
        CHECK(it.hit(sell, 2).empty());
    }
    SUBCASE("the same") { CHECK(it.hit(sell, 2).size() == 2); }
    SUBCASE("the same, later") {
        it.wait(1'000);
        CHECK(it.hit(sell, 2).empty());
    }
}

TEST_CASE("orders that are no quotes are not counted, nor what a quote takes on its arrival") {
    quoting_venue it;
    it.tell(it.protection(1, 0, 0));
    it.tell(it.order(1, buy, 5, 100));
    CHECK(it.hit(sell, 5).empty());
    it.tell(it.order(3, sell, 5, 100));
    const lines said = it.tell(it.quote_in(1));
    CHECK(said.back().starts_with("entered"));
}

TEST_CASE("a window needs a bound, a bound a window, and both a product") {
    using enum reject_reason;
    quoting_venue it;
    it.both_refuse(it.protection(0, 0, 0), invalid_combination);
    it.both_refuse(it.protection(1, 0, 0, 0), invalid_combination);
    set_protection other = it.protection(1, 0, 0);
    other.product = product_id{3};
    it.both_refuse(other, unknown_product);
}

TEST_CASE("quotes go before the stops arrive that the same fill has reached") {
    quoting_venue it;
    it.tell(it.protection(4, 0, 0));
    it.tell(it.quote_in(1));
    it.tell(stop(it.order(5, buy, 5, 101), 100));
    const lines said = it.hit(sell, 5);
    CHECK(said == lines{"struck a1 p1 s2/1 quantity 5 delta 5 trades 1",
                        "cancelled 2.0 i1 a1 s1/1 sell 5@101 done 0 by 0 why 23",
                        "triggered 3.0 i1 a3 s5/1 buy 5@101",
                        "entered 3.0 i1 a3 s5/1 buy 5@101 done 0 tif 2"});
}
