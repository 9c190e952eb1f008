// SPDX-License-Identifier: BSL-1.0
//
// What exchange/core/partition.hpp promises: commands are numbered, checked whole, and refused with a reason.
#include <exchange/core/partition.hpp>

#include <exchange/tests/support/trading_fixture.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace exchange;
using namespace exchange::testing;

namespace {

// A refused command is one message, and leaves the book as it was.
void check_refused(trading_fixture& it, const command& what, reject_reason why) {
    const top_of_book before = it.top();
    const std::uint32_t resting = it.partition().state().memory.orders.in_use();

    it.tell(what);

    CHECK(it.said().size() == 1);
    CHECK(it.refusal() == why);
    CHECK(it.top() == before);
    CHECK(it.partition().state().memory.orders.in_use() == resting);
}

enter_order valid(trading_fixture& it) { return it.limit_order(1, order_side::buy, 10, 100); }

}  // namespace

TEST_CASE("every command gets the next number, refused or not") {
    trading_fixture it;
    it.enter(1, order_side::buy, 1, 100);
    const in_sequence first = it.stamps().back().in_seq;

    it.enter(1, order_side::buy, 0, 100);
    CHECK(it.stamps().back().in_seq == first + 1);
    it.cancel_all(4);
    it.enter(1, order_side::buy, 1, 100);

    CHECK(it.stamps().back().in_seq == first + 3);
}

TEST_CASE("an order is cancelled by its sequence, by no other, and only once") {
    trading_fixture it;
    it.enter(1, order_side::buy, 1, 100);

    it.cancel(2, 1);
    CHECK(it.refusal() == reject_reason::unknown_order);
    it.cancel(1, 1);
    CHECK(it.said().size() == 4);
    it.cancel(1, 1);
    CHECK(it.refusal() == reject_reason::unknown_order);
}

TEST_CASE("by its id an order obeys all sessions of its account, and no others") {
    trading_fixture it;
    it.tell(session_of(5, 1));
    it.enter(1, order_side::buy, 9, 100);
    const order_id id = it.said()[0].order_entered.order;

    check_refused(it, cancel_order{session_id{2}, it.next_seq(2), {id, client_sequence::none}},
                  reject_reason::unknown_order);
    it.tell(amend_order{session_id{5}, it.next_seq(5), {id, client_sequence::none}, 100, 5});
    CHECK(it.top().bid_quantity == 5);
    it.tell(cancel_order{session_id{5}, it.next_seq(5), {id, client_sequence::none}});
    CHECK(it.said().size() == 4);
}

TEST_CASE("a sequence that is not above the last is refused, and does not count") {
    trading_fixture it;
    enter_order order = valid(it);
    order.client_seq = client_sequence{10};
    it.tell(order);

    check_refused(it, order, reject_reason::duplicate_client_sequence);
    order.client_seq = client_sequence{9};
    check_refused(it, order, reject_reason::duplicate_client_sequence);
    order.client_seq = client_sequence::none;
    check_refused(it, order, reject_reason::duplicate_client_sequence);
    order.client_seq = client_sequence{11};
    CHECK(it.tell(order).size() == 4);
}

TEST_CASE("a sequence may be far above the last, but not farther, and one that is does not count") {
    trading_fixture it;
    constexpr std::uint32_t most = 16'777'216;
    enter_order order = valid(it);
    order.client_seq = client_sequence{most + 1};
    check_refused(it, order, reject_reason::client_sequence_too_far);
    order.client_seq = client_sequence{most};
    CHECK(it.tell(order).size() == 4);

    for (const std::uint32_t beyond : {2 * most + 1, 0xffff'fffe, 0xffff'ffff}) {
        order.client_seq = client_sequence{beyond};
        check_refused(it, order, reject_reason::client_sequence_too_far);
        check_refused(it, cancel_order{session_id{1}, order.client_seq, {}},
                      reject_reason::client_sequence_too_far);
    }
    order.client_seq = client_sequence{most + 1};
    CHECK(it.tell(order).size() == 4);
    order.client_seq = client_sequence{2 * most + 1};
    CHECK(it.tell(order).size() == 4);
}

TEST_CASE("a session goes on beyond 2^32 messages, and does not begin again") {
    trading_fixture it;
    constexpr std::uint64_t turn = std::uint64_t{1} << 32;
    cancel_order step{session_id{1}, client_sequence::none, {}};
    for (std::uint64_t at = 0; at < turn - 1;) {
        at = std::min(at + client_sequence_jump_max, turn - 1);
        step.client_seq = client_sequence{at};
        check_refused(it, step, reject_reason::unknown_order);
    }

    enter_order order = valid(it);
    order.client_seq = client_sequence{1};
    check_refused(it, order, reject_reason::duplicate_client_sequence);
    order.client_seq = client_sequence{turn + 1};
    REQUIRE(it.tell(order).size() == 4);
    CHECK(it.said()[0].order_entered.client_seq == client_sequence{turn + 1});
    step = {session_id{1}, client_sequence{turn + 2}, {order_id::none, client_sequence{1}}};
    check_refused(it, step, reject_reason::unknown_order);
    step = {session_id{1}, client_sequence{turn + 3}, {order_id::none, order.client_seq}};
    CHECK(it.tell(step).size() == 4);
}

TEST_CASE("a refused command has used its sequence") {
    trading_fixture it;
    enter_order order = valid(it);
    order.quantity = 0;
    check_refused(it, order, reject_reason::invalid_quantity);

    order.quantity = 1;

    check_refused(it, order, reject_reason::duplicate_client_sequence);
}

TEST_CASE("commands of a session that does not exist are refused") {
    trading_fixture it;
    enter_order order = valid(it);
    for (const std::uint16_t unknown : {0, 5, 64, 65, 65'535}) {
        order.session = session_id{unknown};
        check_refused(it, order, reject_reason::unknown_session);
        check_refused(it, cancel_order{order.session, client_sequence{1}, {}},
                      reject_reason::unknown_session);
    }
}

TEST_CASE("fields that hold no value of their own are refused") {
    const auto spoiled = [](auto spoil) {
        trading_fixture it;
        enter_order order = valid(it);
        spoil(order);
        check_refused(it, order, reject_reason::invalid_field);
    };
    spoiled([](enter_order& it) { it.side = order_side{2}; });
    spoiled([](enter_order& it) { it.type = order_type{0}; });
    spoiled([](enter_order& it) { it.type = order_type{3}; });
    spoiled([](enter_order& it) { it.tif = time_in_force{0}; });
    spoiled([](enter_order& it) { it.tif = time_in_force{5}; });
    spoiled([](enter_order& it) { it.instruction = execution_instruction{2}; });
    spoiled([](enter_order& it) { it.self_trade = self_trade_action{6}; });
}

TEST_CASE("an unknown instrument is refused, whatever its number") {
    trading_fixture it;
    for (const std::uint32_t unknown : {0u, 2u, 8u, 9u, 65'537u, 0xffff'ffffu}) {
        enter_order order = valid(it);
        order.instrument = instrument_id{unknown};
        check_refused(it, order, reject_reason::unknown_instrument);
    }
}

TEST_CASE("price times quantity that overflows is refused and not wrapped") {
    trading_fixture it;
    enter_order order = valid(it);
    order.price = price_ticks_max;
    order.quantity = 0xffff'ffff;
    check_refused(it, order, reject_reason::value_over_max);
    order = valid(it);
    order.price = price_ticks_max + 1;
    check_refused(it, order, reject_reason::invalid_price);
}

TEST_CASE("post-only rests or is refused, and does not go with orders that cannot rest") {
    trading_fixture it;
    it.enter(2, order_side::sell, 5, 100);
    enter_order order = valid(it);
    order.instruction = execution_instruction::post_only;
    check_refused(it, order, reject_reason::would_trade);
    order = it.limit_order(1, order_side::buy, 10, 100, time_in_force::immediate_or_cancel);
    order.instruction = execution_instruction::post_only;
    check_refused(it, order, reject_reason::invalid_combination);

    order = it.limit_order(1, order_side::buy, 10, 99);
    order.instruction = execution_instruction::post_only;
    it.tell(order);
    CHECK(it.top().bid_quantity == 10);

    // It stays what it is: an amend may not make it trade either.
    check_refused(
        it, amend_order{session_id{1}, it.next_seq(1), {order_id::none, order.client_seq}, 100, 10},
        reject_reason::would_trade);
}

TEST_CASE("a market order takes what lies within the collar, and never rests") {
    trading_fixture it;
    define_instrument collared = any_instrument(instrument_id{2});
    collared.collar = 10;
    it.tell(collared);
    it.tell(set_phase{instrument_id{2}, market_phase::continuous});
    for (const price_ticks price : {105, 110}) {
        enter_order maker = it.limit_order(2, order_side::sell, 5, price);
        maker.instrument = instrument_id{2};
        it.tell(maker);
    }
    it.tell(set_settlement_price{instrument_id{2}, 99});

    enter_order order = it.limit_order(1, order_side::buy, 50, -77);
    order.instrument = instrument_id{2};
    order.type = order_type::market;
    it.tell(order);

    CHECK(it.said().size() == 11);
    CHECK(it.said()[2].trade.price == 105);
    CHECK(it.said().back().order_cancelled.cancelled == 45);
    CHECK(it.said().back().order_cancelled.price == 109);
}

TEST_CASE("a market order has a value at the price that it may reach") {
    trading_fixture it;
    define_product dear = any_product(product_id{2});
    dear.multiplier = 0xffff'ffff;
    it.tell(dear);
    for (const std::uint32_t number : {2, 3}) {
        define_instrument made = any_instrument(instrument_id{number});
        made.product = dear.product;
        made.collar = number == 2 ? 10 : 0;
        made.market_band = number == 2 ? 0 : 10;
        it.tell(made);
        it.tell(set_phase{made.instrument, market_phase::continuous});
        enter_order order = it.limit_order(1, order_side::buy, 0xffff'ffff, 0);
        order.type = order_type::market;
        order.instrument = made.instrument;

        check_refused(it, order, reject_reason::value_over_max);

        order.client_seq = it.next_seq(1);
        order.quantity = 1;
        it.tell(order);
        CHECK(it.kinds() == std::vector{event_kind::order_cancelled});
    }
}

TEST_CASE("a market order that neither collar nor band protects is refused") {
    trading_fixture it;
    it.enter(2, order_side::sell, 5, 1'000'000);
    enter_order order = it.limit_order(1, order_side::buy, 5, 0);
    order.type = order_type::market;
    check_refused(it, order, reject_reason::no_price_protection);

    define_instrument banded = any_instrument();
    banded.market_band = 5;
    banded.action = definition_action::change;
    it.tell(banded);
    it.enter(2, order_side::sell, 5, 1'000'005);
    it.enter(2, order_side::sell, 5, 1'000'006);
    order.client_seq = it.next_seq(1);
    order.quantity = 15;
    it.tell(order);
    CHECK(it.said().size() == 2 * 10 + 1);
    CHECK(it.said().back().order_cancelled.cancelled == 5);
    CHECK(it.said().back().order_cancelled.price == 1'000'005);
}

TEST_CASE("more at an unchanged price is asked the collar, less is not") {
    trading_fixture it;
    define_instrument collared = any_instrument(instrument_id{2});
    collared.settlement_price = 1'100;
    collared.collar = 100;
    it.tell(collared);
    it.tell(set_phase{instrument_id{2}, market_phase::continuous});
    enter_order order = it.limit_order(1, order_side::buy, 5, 1'100);
    order.instrument = instrument_id{2};
    it.tell(order);
    it.tell(set_settlement_price{instrument_id{2}, 800});
    const auto amend = [&](contracts quantity) {
        return amend_order{
            session_id{1}, it.next_seq(1), {order_id::none, order.client_seq}, 1'100, quantity};
    };

    check_refused(it, amend(1'000'000), reject_reason::price_outside_collar);
    check_refused(it, amend(6), reject_reason::price_outside_collar);
    it.tell(amend(5));
    CHECK(it.said()[0].order_amended.priority == amend_priority::kept);
    it.tell(amend(4));
    CHECK(it.said()[0].order_amended.open == 4);
    check_refused(it, amend(5), reject_reason::price_outside_collar);
}

TEST_CASE("a sell below a high bid is worth what the bid pays, however it is entered") {
    trading_fixture it;
    define_instrument limited = any_instrument(instrument_id{2});
    limited.settlement_price = 100;
    limited.collar = 100;
    limited.order_value_max = 1'000;
    it.tell(limited);
    it.tell(set_phase{instrument_id{2}, market_phase::continuous});
    enter_order bid = it.limit_order(2, order_side::buy, 5, 200);
    bid.instrument = instrument_id{2};
    it.tell(bid);
    const auto sell = [&](contracts quantity, price_ticks price) {
        enter_order order = it.limit_order(1, order_side::sell, quantity, price);
        order.instrument = instrument_id{2};
        return order;
    };

    check_refused(it, sell(6, 1), reject_reason::value_over_max);
    enter_order at_market = sell(6, 0);
    at_market.type = order_type::market;
    check_refused(it, at_market, reject_reason::value_over_max);
    check_refused(it,
                  enter_quote{session_id{1}, it.next_seq(1), instrument_id{2},
                              self_trade_action::account_default, 0, 1, 0, 6},
                  reject_reason::value_over_max);
    const enter_order first = sell(1, 150);
    it.tell(first);
    CHECK(it.said()[0].order_executed.price == 200);
    const enter_order second = sell(5, 199);
    it.tell(second);
    CHECK(it.said()[0].order_executed.quantity == 4);
    check_refused(
        it, amend_order{session_id{1}, it.next_seq(1), {order_id::none, second.client_seq}, 1, 6},
        reject_reason::value_over_max);
}

TEST_CASE("without a counterparty an immediate order is refused where the market says so") {
    trading_fixture it;
    define_instrument lonely = any_instrument(instrument_id{2});
    lonely.lone_orders = lone_order_policy::reject;
    it.tell(lonely);
    it.tell(set_phase{instrument_id{2}, market_phase::continuous});
    const auto immediate =
        it.limit_order(1, order_side::buy, 1, 100, time_in_force::immediate_or_cancel);

    it.tell(immediate);
    CHECK(it.kinds() == std::vector{event_kind::order_cancelled});
    for (const auto tif : {time_in_force::immediate_or_cancel, time_in_force::fill_or_kill}) {
        enter_order order = it.limit_order(1, order_side::buy, 1, 100, tif);
        order.instrument = instrument_id{2};
        check_refused(it, order, reject_reason::no_counterparty);
    }
}

TEST_CASE("a mass cancel is for the own account, and market and side narrow it") {
    trading_fixture it;
    it.tell(any_instrument(instrument_id{2}));
    it.tell(set_phase{instrument_id{2}, market_phase::continuous});
    for (const instrument_id in : {future, instrument_id{2}}) {
        for (const order_side side : {order_side::buy, order_side::sell}) {
            enter_order order = it.limit_order(1, side, 1, side == order_side::buy ? 90 : 110);
            order.instrument = in;
            it.tell(order);
        }
    }
    it.enter(2, order_side::buy, 1, 80);
    const auto mass = [&](std::uint32_t account, instrument_id in, side_filter sides) {
        return cancel_orders{session_id{1}, it.next_seq(1), account_id{account}, in, sides};
    };

    check_refused(it, mass(2, instrument_id::none, side_filter::both),
                  reject_reason::not_permitted);
    check_refused(it, mass(1, instrument_id{7}, side_filter::both),
                  reject_reason::unknown_instrument);
    check_refused(it, mass(1, future, side_filter{3}), reject_reason::invalid_field);
    CHECK(it.tell(mass(1, future, side_filter::sell)).size() == 4);
    CHECK(it.tell(mass(1, instrument_id{2}, side_filter::both)).size() == 8);
    CHECK(it.tell(mass(1, instrument_id::none, side_filter::both)).size() == 4);
    CHECK(it.partition().state().memory.orders.in_use() == 1);
}

TEST_CASE("a full slab refuses what comes, and takes it again when there is room") {
    partition_limits limits = small_limits();
    limits.orders_max = 2;
    trading_fixture it{limits};
    it.enter(1, order_side::buy, 1, 100);
    it.enter(1, order_side::buy, 1, 101);

    check_refused(it, valid(it), reject_reason::at_capacity);
    it.cancel(1, 1);
    it.enter(1, order_side::buy, 1, 102);

    CHECK(it.top().bid_price == 102);
}

TEST_CASE("without memory for another level an order is refused, and one that moves stays") {
    partition_limits limits = small_limits();
    limits.level_chunks_max = 1;
    trading_fixture it{limits};
    it.enter(1, order_side::buy, 1, 100);

    check_refused(it, it.limit_order(1, order_side::buy, 1, 10'000), reject_reason::at_capacity);
    check_refused(
        it,
        amend_order{session_id{1}, it.next_seq(1), {order_id::none, client_sequence{1}}, 10'000, 1},
        reject_reason::at_capacity);
    it.cancel(1, 1);
    CHECK(it.said().size() == 4);
}

TEST_CASE("without memory for another holding an account cannot begin in a market") {
    partition_limits limits = small_limits();
    limits.holdings_max = 1;
    trading_fixture it{limits};
    it.enter(1, order_side::buy, 1, 100);

    it.enter(2, order_side::buy, 1, 100);

    CHECK(it.refusal() == reject_reason::at_capacity);
}

TEST_CASE("what is refused takes no holding from those who come after") {
    partition_limits limits = small_limits();
    limits.holdings_max = 1;
    trading_fixture it{limits};
    define_account strict = any_account(5);
    strict.order_quantity_max = 1;
    it.tell(strict);
    it.tell(session_of(5, 5));

    check_refused(it, it.limit_order(5, order_side::buy, 2, 100), reject_reason::quantity_over_max);
    check_refused(it,
                  enter_quote{session_id{5}, it.next_seq(5), future,
                              self_trade_action::account_default, 99, 101, 2, 2},
                  reject_reason::quantity_over_max);
    it.enter(1, order_side::buy, 1, 100);

    CHECK(it.refusal() == reject_reason::none);
}

TEST_CASE("the same commands give the same messages, variant or not") {
    std::vector<std::string> streams[2];
    for (std::vector<std::string>& said : streams) {
        trading_fixture it;
        const auto note = [&] {
            for (const std::string& line : it.lines()) said.push_back(line);
        };
        for (std::uint32_t each = 0; each < 200; ++each) {
            const auto side = each % 3 == 0 ? order_side::buy : order_side::sell;
            const enter_order order = it.limit_order(static_cast<std::uint16_t>(1 + each % 4), side,
                                                     1 + each % 7, 95 + each * 37 % 11);
            if (&said == &streams[0]) it.tell(order);
            else it.tell(command{order});
            note();
        }
    }

    CHECK(streams[0].size() > 800);
    CHECK(streams[0] == streams[1]);
}
