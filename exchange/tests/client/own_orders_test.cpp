// SPDX-License-Identifier: BSL-1.0
//
// What own orders are after each kind of event, as exchange/client/own_orders.hpp promises.
#include <exchange/client/own_orders.hpp>

#include <doctest/doctest.h>

using namespace exchange;

namespace {

constexpr session_id ours{1};
constexpr session_id sister{2};

order_entered rests(std::uint64_t seq, order_side side, contracts open, session_id of = ours) {
    order_entered it{};
    it.order = order_id{seq + 100};
    it.client_seq = client_sequence{seq};
    it.session = of;
    it.side = side;
    it.open = open;
    it.price = 1000;
    return it;
}

order_executed filled(std::uint64_t seq, order_side side, contracts quantity, contracts open) {
    order_executed it{};
    it.client_seq = client_sequence{seq};
    it.session = ours;
    it.side = side;
    it.quantity = quantity;
    it.open = open;
    return it;
}

order_cancelled gone(std::uint64_t seq, order_side side, session_id of, session_id asked) {
    order_cancelled it{};
    it.client_seq = client_sequence{seq};
    it.session = of;
    it.request_session = asked;
    it.side = side;
    return it;
}

}  // namespace

TEST_CASE("own orders: an order is there from its entry to its last fill") {
    own_orders orders{8};

    CHECK(orders.hear(rests(1, order_side::buy, 10)));
    CHECK(orders.hear(filled(1, order_side::buy, 4, 6)));

    const working_order* const it = orders.find(client_sequence{1});
    REQUIRE(it != nullptr);
    CHECK(it->open == 6);
    CHECK(it->executed == 4);
    CHECK(it->rests);
    CHECK(it->order == order_id{101});
    CHECK(orders.hear(filled(1, order_side::buy, 6, 0)));
    CHECK(orders.find(client_sequence{1}) == nullptr);
    CHECK(orders.size() == 0);
}

TEST_CASE("own orders: both sides of a quote are told apart") {
    own_orders orders{8};

    orders.hear(rests(1, order_side::buy, 10));
    orders.hear(rests(1, order_side::sell, 20));
    orders.hear(gone(1, order_side::buy, ours, ours));

    CHECK(orders.find(client_sequence{1}, order_side::buy) == nullptr);
    REQUIRE(orders.find(client_sequence{1}) != nullptr);
    CHECK(orders.find(client_sequence{1})->open == 20);
}

TEST_CASE("own orders: what a fill on arrival leaves is counted from the entry") {
    own_orders orders{8};

    orders.hear(filled(1, order_side::buy, 4, 6));  // Before it rests: not there yet.
    CHECK(orders.size() == 0);
    order_entered left = rests(1, order_side::buy, 6);
    left.executed = 4;
    orders.hear(left);

    CHECK(orders.find(client_sequence{1})->executed == 4);
}

TEST_CASE("own orders: an amend changes price and quantity, a trigger another") {
    own_orders orders{8};
    order_terms terms{};
    terms.client_seq = client_sequence{1};
    terms.session = ours;
    terms.type = order_type::stop_limit;
    terms.trigger_price = 900;
    terms.display_quantity = 3;
    stop_entered waits{};
    waits.client_seq = client_sequence{1};
    waits.session = ours;
    waits.open = 10;
    waits.price = 890;

    orders.hear(terms);
    orders.hear(waits);
    const working_order* it = orders.find(client_sequence{1});
    REQUIRE(it != nullptr);
    CHECK(it->waits);
    CHECK_FALSE(it->rests);
    CHECK(it->trigger_price == 900);
    CHECK(it->display_quantity == 3);
    CHECK(it->type == order_type::stop_limit);

    order_amended amended{};
    amended.client_seq = client_sequence{1};
    amended.session = ours;
    amended.open = 5;
    amended.price = 880;
    orders.hear(amended);
    trigger_amended moved{};
    moved.client_seq = client_sequence{1};
    moved.session = ours;
    moved.trigger_price = 905;
    orders.hear(moved);
    CHECK(it->open == 5);
    CHECK(it->price == 880);
    CHECK(it->trigger_price == 905);

    stop_triggered now{};
    now.client_seq = client_sequence{1};
    now.session = ours;
    now.open = 5;
    now.price = 880;
    orders.hear(now);
    CHECK_FALSE(it->waits);
    orders.hear(rests(1, order_side::buy, 5));
    CHECK(it->rests);
    CHECK(orders.size() == 1);
}

TEST_CASE("own orders: those of a sister session are no business of ours") {
    own_orders orders{8};
    orders.hear(rests(1, order_side::buy, 10));

    orders.hear(gone(1, order_side::buy, sister, ours));  // Ours had the same number.

    CHECK(orders.whose() == ours);
    CHECK(orders.size() == 1);
    orders.hear(gone(1, order_side::buy, ours, sister));
    CHECK(orders.size() == 0);
}

TEST_CASE("own orders: what names two sessions does not say whose the stream is") {
    own_orders orders{8};

    orders.hear(gone(1, order_side::buy, sister, ours));
    CHECK(orders.whose() == session_id::none);
    orders.hear(gone(1, order_side::buy, ours, session_id::none));
    CHECK(orders.whose() == ours);
}

TEST_CASE("own orders: another life may give another session") {
    own_orders orders{8};
    orders.hear(rests(1, order_side::buy, 10));
    orders.clear();
    CHECK(orders.whose() == session_id::none);

    orders.hear(rests(1, order_side::buy, 10, sister));
    CHECK(orders.whose() == sister);
    CHECK(orders.size() == 1);
}

TEST_CASE("own orders: beyond the bound they are counted and not kept") {
    own_orders orders{1};

    CHECK(orders.hear(rests(1, order_side::buy, 10)));
    CHECK_FALSE(orders.hear(rests(2, order_side::buy, 10)));

    CHECK(orders.size() == 1);
    CHECK(orders.untracked() == 1);
    orders.clear();
    CHECK(orders.size() == 0);
    CHECK(orders.untracked() == 0);
}
