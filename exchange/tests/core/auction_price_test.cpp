// SPDX-License-Identifier: BSL-1.0
//
// What exchange/core/auction_price.hpp promises: each of its rules decides where those before it do
// not. The storms compare it with a search of all prices.
#include <exchange/core/auction_price.hpp>

#include <exchange/tests/support/trading_fixture.hpp>

#include <doctest/doctest.h>

#include <vector>

using namespace exchange;
using namespace exchange::testing;
using enum exchange::order_side;

namespace {

struct waiting {
    order_side side;
    contracts quantity;
    price_ticks price;
};

/// A market in pre-open with these orders; the reference price is 100.
class call_auction {
public:
    explicit call_auction(const std::vector<waiting>& orders, price_ticks collar = 1'000) {
        define_instrument terms = any_instrument();
        terms.action = definition_action::change;
        terms.collar = collar;
        it_.tell(terms);
        it_.tell(set_phase{future, market_phase::pre_open});
        for (const auto& [side, quantity, price] : orders) {
            enter_order order = it_.limit_order(side == buy ? 1 : 2, side, quantity, price);
            if (price == market_price(side)) order.type = order_type::market;
            it_.tell(order);
            REQUIRE(it_.refusal() == reject_reason::none);
        }
    }

    [[nodiscard]] auction_price price(std::uint32_t work_of_a_step = 1'000) {
        const venue& in = it_.partition().state();
        steps_ = 0;
        step_work work{work_of_a_step};
        auction_search search;
        search.begin(in.markets[1], in.memory);
        do {
            work.begin();
            ++steps_;
        } while (!search.go_on(in.markets[1], in.memory, work));
        return search.result(in.markets[1], in.memory);
    }
    [[nodiscard]] int steps() const { return steps_; }

    trading_fixture& fixture() { return it_; }

private:
    trading_fixture it_;
    int steps_ = 0;
};

auction_price price_of_orders(const std::vector<waiting>& orders) {
    return call_auction{orders}.price();
}

constexpr price_ticks at_market_buy = market_price(buy);
constexpr price_ticks at_market_sell = market_price(sell);

}  // namespace

TEST_CASE("sides that do not meet have no price") {
    CHECK(price_of_orders({}) == auction_price{});
    CHECK(price_of_orders({{buy, 5, 99}}) == auction_price{});
    CHECK(price_of_orders({{buy, 5, 99}, {sell, 5, 100}}) == auction_price{});
}

TEST_CASE("sides that meet at one price trade there") {
    CHECK(price_of_orders({{buy, 5, 100}, {sell, 5, 100}}) == auction_price{100, 5, 0, buy});
}

TEST_CASE("most has to trade, whatever is left over") {
    // At 102 two trade, at 101 five, at 99 four.
    const auction_price found = price_of_orders(
        {{buy, 2, 102}, {buy, 3, 101}, {buy, 20, 98}, {sell, 4, 99}, {sell, 9, 101}});
    CHECK(found == auction_price{101, 5, 8, sell});
}

TEST_CASE("of prices at which as much trades, least is left over") {
    // Ten trade from 90 to 110; at 110 no buyer is left over, at 105 two contracts are.
    const auction_price found =
        price_of_orders({{buy, 10, 110}, {buy, 2, 105}, {buy, 7, 90}, {sell, 10, 90}});
    CHECK(found == auction_price{110, 10, 0, buy});
}

TEST_CASE("buyers who are left over press the price up, and sellers down") {
    CHECK(price_of_orders({{buy, 20, 105}, {sell, 10, 95}}) == auction_price{105, 10, 10, buy});
    CHECK(price_of_orders({{buy, 10, 105}, {sell, 20, 95}}) == auction_price{95, 10, 10, sell});
}

TEST_CASE("where nothing presses, the reference price is the price if it can be") {
    CHECK(price_of_orders({{buy, 10, 105}, {sell, 10, 95}}) == auction_price{100, 10, 0, buy});
    CHECK(price_of_orders({{buy, 10, 99}, {sell, 10, 90}}) == auction_price{99, 10, 0, buy});
    CHECK(price_of_orders({{buy, 10, 120}, {sell, 10, 110}}) == auction_price{110, 10, 0, buy});
}

TEST_CASE("where no order can have the reference price, the nearest limit is the price") {
    call_auction it{{{buy, 10, 106}, {sell, 10, 96}}};
    define_product coarse = any_product();
    coarse.action = definition_action::change;
    coarse.bands = 1;
    coarse.ticks[0] = {0, 3};
    it.fixture().tell(coarse);

    CHECK(it.price() == auction_price{96, 10, 0, buy});
}

TEST_CASE("of two prices that are as near to the reference price the higher is the price") {
    call_auction it{{{buy, 10, 104}, {sell, 10, 96}}};
    define_product coarse = any_product();
    coarse.action = definition_action::change;
    coarse.bands = 1;
    coarse.ticks[0] = {0, 3};
    it.fixture().tell(coarse);

    CHECK(it.price() == auction_price{104, 10, 0, buy});
}

TEST_CASE("where as much is left of either side, the price is the limit nearest to the reference") {
    // Ten trade from 80 to 120. At 97 five of buyers are left over, at 102 five of sellers, in between none.
    const std::vector<waiting> orders{{buy, 10, 120}, {sell, 10, 80}, {buy, 5, 97}, {sell, 5, 102}};
    CHECK(price_of_orders(orders) == auction_price{100, 10, 0, buy});

    // At 95 as many buyers are left as at 97, and it is the reference price itself.
    call_auction lower{orders};
    lower.fixture().tell(set_settlement_price{future, 95});
    CHECK(lower.price() == auction_price{95, 10, 5, buy});
    // Of prices outside, 80 and 120 are the last.
    call_auction higher{orders};
    higher.fixture().tell(set_settlement_price{future, 125});
    CHECK(higher.price() == auction_price{120, 10, 5, sell});
}

TEST_CASE("the public example of a call auction comes out as its rules say") {
    // Buyers of 500 each at 640, 639, 639 and 633, of 1,000 at 634; a seller of 1,000 at 610, others
    // from 640 on.
    const auction_price found = call_auction{
        {{buy, 500, 640},
         {buy, 500, 639},
         {buy, 500, 639},
         {buy, 1'000, 634},
         {buy, 500, 633},
         {sell, 1'000, 610},
         {sell, 500, 640},
         {sell, 520, 641},
         {sell, 550, 642},
         {sell, 519, 643}}}.price();
    CHECK(found == auction_price{639, 1'000, 500, buy});
}

TEST_CASE("orders at the market take part before every limit, and name no price") {
    CHECK(price_of_orders({{buy, 5, at_market_buy}, {sell, 5, 90}}) ==
          auction_price{100, 5, 0, buy});
    // They want more than there is: the last of the sellers, or the reference price if that is above.
    CHECK(price_of_orders({{buy, 9, at_market_buy}, {sell, 5, 90}}) ==
          auction_price{100, 5, 4, buy});
    CHECK(price_of_orders({{buy, 9, at_market_buy}, {sell, 5, 110}}) ==
          auction_price{110, 5, 4, buy});
    CHECK(price_of_orders({{buy, 9, at_market_buy}, {buy, 2, 120}, {sell, 5, 110}}) ==
          auction_price{120, 5, 6, buy});
    CHECK(price_of_orders({{sell, 9, at_market_sell}, {buy, 5, 90}}) ==
          auction_price{90, 5, 4, sell});
    CHECK(price_of_orders({{sell, 9, at_market_sell}, {sell, 2, 80}, {buy, 5, 90}}) ==
          auction_price{80, 5, 6, sell});
}

TEST_CASE("orders at the market alone trade at the reference price") {
    CHECK(price_of_orders({{buy, 5, at_market_buy}, {sell, 5, at_market_sell}}) ==
          auction_price{100, 5, 0, buy});
    CHECK(price_of_orders({{buy, 5, at_market_buy}, {sell, 8, at_market_sell}}) ==
          auction_price{100, 5, 3, sell});
}

TEST_CASE("orders at the market alone trade at a reference price that is beyond the collar") {
    call_auction it{std::vector<waiting>{}, 50};
    it.fixture().tell(set_phase{future, market_phase::continuous});
    it.fixture().enter(1, sell, 1, 103);
    it.fixture().enter(2, buy, 1, 103);
    it.fixture().tell(set_phase{future, market_phase::pre_open});
    it.fixture().tell(set_settlement_price{future, 200});
    for (const auto& [account, side] :
         {std::pair{std::uint16_t{1}, buy}, std::pair{std::uint16_t{2}, sell}}) {
        enter_order order = it.fixture().limit_order(account, side, 5, market_price(side));
        order.type = order_type::market;
        it.fixture().tell(order);
        REQUIRE(it.fixture().refusal() == reject_reason::none);
    }
    CHECK(it.price() == auction_price{103, 5, 0, buy});

    it.fixture().enter(2, sell, 1, 180);  // A limit that the collar allows names a price.
    CHECK(it.price() == auction_price{180, 5, 1, sell});
}

TEST_CASE("the reference price is that of the last trade of the day, if there is one") {
    call_auction it{std::vector<waiting>{}};
    it.fixture().tell(set_phase{future, market_phase::continuous});
    it.fixture().enter(1, sell, 1, 103);
    it.fixture().enter(2, buy, 1, 103);
    it.fixture().tell(set_phase{future, market_phase::pre_open});
    it.fixture().enter(1, buy, 10, 110);
    it.fixture().enter(2, sell, 10, 90);

    CHECK(it.price() == auction_price{103, 10, 0, buy});
}

TEST_CASE("a search takes as many steps as its levels, and finds the same") {
    std::vector<waiting> orders;
    for (price_ticks each = 1; each <= 20; ++each) {
        orders.push_back({buy, 3, 100 + each});
        orders.push_back({sell, 3, 100 - each});
    }
    call_auction it{orders};
    const auction_price found = it.price();
    CHECK(it.steps() == 1);

    CHECK(it.price(1) == found);
    CHECK(it.steps() >= 20);
    CHECK(found == auction_price{100, 60, 0, buy});
}
