// SPDX-License-Identifier: BSL-1.0
//
// What exchange/core/publisher.hpp promises: one row of messages per event, in batches that know their place.
// Whole streams are in scenarios_test.cpp.
#include <exchange/core/publisher.hpp>

#include <exchange/tests/support/trading_fixture.hpp>

#include <doctest/doctest.h>

#include <vector>

using namespace exchange;
using namespace exchange::testing;

namespace {

using kinds = std::vector<event_kind>;
using kind = event_kind;

const kinds a_fill = {
    kind::order_executed,    kind::order_executed,       kind::trade,
    kind::volume_update,     kind::trade_capture_report, kind::trade_capture_report,
    kind::order_book_update, kind::price_level_update,   kind::market_statistics,
    kind::top_of_book};

kinds operator+(kinds one, const kinds& other) {
    one.insert(one.end(), other.begin(), other.end());
    return one;
}

}  // namespace

TEST_CASE("an order that rests behind the best says nothing about the top") {
    trading_fixture it;
    it.enter(1, order_side::buy, 5, 100);
    CHECK(it.kinds() == kinds{kind::order_entered, kind::order_book_update,
                              kind::price_level_update, kind::top_of_book});

    it.enter(1, order_side::buy, 5, 99);
    CHECK(it.kinds() ==
          kinds{kind::order_entered, kind::order_book_update, kind::price_level_update});
    it.amend(1, 2, 4, 99);
    CHECK(it.kinds() ==
          kinds{kind::order_amended, kind::order_book_update, kind::price_level_update});
    it.cancel(1, 2);
    CHECK(it.kinds() ==
          kinds{kind::order_cancelled, kind::order_book_update, kind::price_level_update});
}

TEST_CASE("an order that joins the best changes its size, and so the top") {
    trading_fixture it;
    it.enter(1, order_side::buy, 5, 100);

    it.enter(2, order_side::buy, 5, 100);

    CHECK(it.said().back().kind == kind::top_of_book);
    CHECK(it.top().bid_quantity == 10);
    CHECK(it.top().bid_orders == 2);
}

TEST_CASE("an order that trades and then rests is acknowledged by its fill, and then entered") {
    trading_fixture it;
    it.enter(1, order_side::sell, 5, 100);

    it.enter(2, order_side::buy, 8, 100);

    CHECK(it.kinds() == a_fill + kinds{kind::order_entered, kind::order_book_update,
                                       kind::price_level_update, kind::top_of_book});
    CHECK(it.said()[10].order_entered.open == 3);
    CHECK(it.said()[10].order_entered.executed == 5);
}

TEST_CASE("a fill of an auction is one like any other, but that both sides leave the book") {
    trading_fixture it;
    it.tell(set_phase{future, market_phase::pre_open});
    it.enter(1, order_side::buy, 5, 100);
    it.enter(2, order_side::sell, 3, 100);

    it.tell(uncross{future});

    CHECK(it.kinds() == kinds{kind::admin_accepted, kind::auction_result, kind::order_executed,
                              kind::order_executed, kind::trade, kind::volume_update,
                              kind::trade_capture_report, kind::trade_capture_report,
                              kind::order_book_update, kind::price_level_update,
                              kind::order_book_update, kind::price_level_update,
                              kind::market_statistics, kind::top_of_book, kind::phase_changed});
    CHECK(it.said()[6].trade_capture_report.side == order_side::buy);
    CHECK(it.said()[7].trade_capture_report.side == order_side::sell);
    CHECK(it.said()[7].trade_capture_report.counterparty == firm_id{1});
    CHECK(it.said()[8].order_book_update.action == book_action::modify);
    CHECK(it.said()[9].price_level_update.quantity == 2);
    CHECK(it.said()[10].order_book_update.action == book_action::erase);
}

TEST_CASE("an order that loses its place is erased and added, with its trades between the two") {
    trading_fixture it;
    it.enter(1, order_side::sell, 5, 105);
    it.enter(2, order_side::buy, 8, 100);
    const kinds leaves = {kind::order_amended, kind::order_book_update, kind::price_level_update};
    const kinds comes = {kind::order_book_update, kind::price_level_update, kind::top_of_book};

    it.amend(2, 1, 9, 100);
    CHECK(it.kinds() == leaves + comes);
    it.amend(2, 1, 9, 105);
    CHECK(it.kinds() == leaves + a_fill + comes);
    CHECK(it.said()[0].order_amended.price == 105);
    CHECK(it.said()[0].order_amended.open == 9);
    CHECK(it.said()[1].order_book_update.price == 100);
}

TEST_CASE("a long event comes in several batches, and its end is told once") {
    trading_fixture it;
    for (price_ticks price = 1; price <= 100; ++price) it.enter(1, order_side::buy, 1, price);
    const std::size_t before = it.stamps().size();

    it.cancel_all(1);

    // The best goes last: it was entered last.
    REQUIRE(it.said().size() == 301);
    const in_sequence in_seq = it.stamps()[before].in_seq;
    for (std::uint32_t each = 0; each < 301; ++each) {
        const event_stamp& stamp = it.stamps()[before + each];
        REQUIRE(stamp.out_seq == it.stamps()[before - 1].out_seq + 1 + each);
        REQUIRE(stamp.in_seq == in_seq);
        REQUIRE(stamp.index == each);
        REQUIRE(stamp.last_in_event == (each == 300));
    }
}

TEST_CASE("an event that fills a batch exactly is complete with it") {
    trading_fixture it;
    std::vector<std::size_t> sizes;
    std::vector<bool> complete;
    const auto take = [&](const event_batch& batch) {
        sizes.push_back(batch.events.size());
        complete.push_back(batch.complete);
    };
    // 32 orders at the best of as many levels, the best first: four messages each, 128 in all.
    for (price_ticks price = 32; price >= 1; --price) it.enter(3, order_side::buy, 1, price);
    it.partition().apply(9'000'000'000,
                         cancel_orders{session_id{3}, it.next_seq(3), account_id{3},
                                       instrument_id::none, side_filter::both},
                         event_sink::to(take));

    CHECK(sizes == std::vector<std::size_t>{128});
    CHECK(complete == std::vector<bool>{true});
}

TEST_CASE("between two steps the last message waits until it is known whether it is the last") {
    partition_limits limits = small_limits();
    limits.step_work_max = 1;
    trading_fixture it{limits};
    for (int each = 0; each < 2; ++each) it.enter(1, order_side::sell, 5, 100);
    std::vector<std::size_t> sizes;
    std::vector<event_stamp> stamps;
    const auto take = [&](const event_batch& batch) {
        sizes.push_back(batch.events.size());
        for (std::size_t at = 0; at < batch.events.size(); ++at) stamps.push_back(batch.stamp(at));
    };

    partition& real = it.partition();
    const out_sequence before = real.published();
    real.begin(2'000'000'000, it.limit_order(2, order_side::buy, 10, 100), event_sink::to(take));
    CHECK(sizes == std::vector<std::size_t>{9});
    CHECK(real.busy());
    real.resume(event_sink::to(take));

    CHECK(sizes == std::vector<std::size_t>{9, 11});
    CHECK_FALSE(real.busy());
    REQUIRE(stamps.size() == 20);
    for (std::uint32_t each = 0; each < 20; ++each) {
        CHECK(stamps[each].out_seq == before + 1 + each);
        CHECK(stamps[each].index == each);
        CHECK(stamps[each].last_in_event == (each == 19));
    }
}
