// SPDX-License-Identifier: BSL-1.0
//
// What exchange/client/subscriber_session.hpp makes of messages, without a connection:
// market_data_subscriber_test.cpp has it beside a distributor.
#include <exchange/client/subscriber_session.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace exchange;

namespace {

constexpr instrument_id gold{7};
constexpr instrument_id iron{8};
constexpr market_wish only_trades{gold, 0, false, true, false};

market_data_options few_markets() {
    market_data_options made;
    made.news_max = 64;
    made.instruments_max = 2;
    return made;
}

[[nodiscard]] book_snapshot whole(std::uint64_t state, price_ticks price) {
    book_snapshot made{};
    made.instrument = gold;
    made.state = state;
    made.levels[made.count++] = {price, 10, 1, order_side::buy};
    made.first = made.last = true;
    return made;
}
[[nodiscard]] book_delta change(std::uint64_t previous, std::uint64_t state, price_ticks price) {
    book_delta made{};
    made.instrument = gold;
    made.previous = previous;
    made.state = state;
    made.levels[made.count++] = {price, 10, 1, order_side::buy};
    made.last = true;
    return made;
}

/// "100" for its best bid; "?" in front if the book is not current.
[[nodiscard]] std::string bid_of(const subscriber_session& it) {
    const followed_market* const found = it.books().find(gold);
    if (found == nullptr || found->best(order_side::buy) == nullptr) return "none";
    return (found->current() ? "" : "?") + std::to_string(found->best(order_side::buy)->price);
}

/// How often it was told that the book is another one; takes all news.
[[nodiscard]] int changes_told(subscriber_session& it) {
    int count = 0;
    for (market_news told; it.try_next(told);) count += told.as<book_changed>() != nullptr ? 1 : 0;
    return count;
}

}  // namespace

TEST_CASE("subscriber session: what comes behind an unsubscription does not make a book current") {
    subscriber_session it{few_markets()};
    for (const instrument_id first : {gold, instrument_id::none})
        for (const instrument_id last : {gold, instrument_id::none}) {
            REQUIRE(it.want({.instrument = first}).ok());
            it(whole(1, 100));
            CHECK(bid_of(it) == "100");
            static_cast<void>(changes_told(it));
            REQUIRE(it.want_no_more(last).ok());
            CHECK(bid_of(it) == "?100");
            CHECK(changes_told(it) == 1);
            it(whole(2, 101));
            it(change(2, 3, 102));
            CHECK(bid_of(it) == "?100");
            CHECK(changes_told(it) == 0);
            CHECK(it.broken_books() == 0);
        }
    // What is wanted of it is less than what is wanted of all.
    REQUIRE(it.want({}).ok());
    REQUIRE(it.want(only_trades).ok());
    it(whole(3, 101));
    CHECK(bid_of(it) == "?100");
}

TEST_CASE("subscriber session: a book that another subscription does not cover is in doubt") {
    subscriber_session it{few_markets()};
    for (const instrument_id other : {gold, instrument_id::none}) {
        REQUIRE(it.want({.instrument = gold}).ok());
        it(whole(1, 100));
        REQUIRE(it.want({.instrument = iron}).ok());
        REQUIRE(it.want({.instrument = gold, .depth = 5}).ok());
        CHECK(bid_of(it) == "100");  // Those are none of its ends.
        static_cast<void>(changes_told(it));
        market_wish without = only_trades;
        without.instrument = other;
        REQUIRE(it.want(without).ok());
        CHECK(bid_of(it) == "?100");
        CHECK(changes_told(it) == 1);
        REQUIRE(it.want(without).ok());
        CHECK(changes_told(it) == 0);  // It was in doubt.
        REQUIRE(it.want({}).ok());
        it(whole(4, 100));
        CHECK(bid_of(it) == "100");
    }
}

TEST_CASE("subscriber session: half of a book is given up with what was wanted of it") {
    subscriber_session it{few_markets()};
    REQUIRE(it.want({.instrument = gold}).ok());
    book_snapshot first = whole(1, 100);
    first.last = false;
    it(first);
    REQUIRE(it.want_no_more(gold).ok());
    CHECK(changes_told(it) == 0);  // It was never current.
    REQUIRE(it.want({.instrument = gold}).ok());
    book_snapshot last = whole(1, 101);
    last.first = false;
    followed_books copy = it.books();
    CHECK(copy.hear(last) == told_step::broken);
}

TEST_CASE("subscriber session: an answer to what is not wanted any more is no news") {
    subscriber_session it{few_markets()};
    const auto first = it.want({.instrument = gold});
    const auto second = it.want({.instrument = gold, .depth = 1});
    const auto third = it.want({.instrument = iron});
    REQUIRE(it.want_no_more(iron).ok());
    it(subscribed{first.value(), gold, 0, true, true, true});
    it(subscription_refused{third.value(), iron, subscription_refusal::unknown_instrument});
    market_news told;
    CHECK_FALSE(it.try_next(told));
    it(subscribed{second.value(), gold, 1, true, true, true});
    REQUIRE(it.try_next(told));
    const auto* const granted = told.as<subscription_granted>();
    REQUIRE(granted != nullptr);
    CHECK(granted->request == second.value());
}

TEST_CASE("subscriber session: of what is not wanted nothing is told") {
    subscriber_session it{few_markets()};
    trades_printed trades{};
    trades.instrument = gold;
    trades.count = 1;
    trades.dropped = 2;
    market_summary summary{};
    summary.instrument = gold;
    const auto told = [&] {
        it(trades);
        it(summary);
        it(whole(1, 100));
        int count = 0;
        for (market_news news; it.try_next(news);) ++count;
        return count;
    };
    CHECK(told() == 0);
    REQUIRE(it.want({}).ok());
    CHECK(told() == 4);  // Of the book, of trades that were missed, of one, and of sums.
    REQUIRE(it.want_no_more(gold).ok());
    CHECK(told() == 1);  // That the book is in doubt.
    REQUIRE(it.want(only_trades).ok());
    CHECK(told() == 2);
    REQUIRE(it.want({gold, 0, false, false, true}).ok());
    CHECK(told() == 1);
}

TEST_CASE("subscriber session: ends need no memory but for exceptions, of which there is a bound") {
    subscriber_session it{few_markets()};
    for (std::uint32_t each = 10; each <= 1'000; ++each)
        CHECK(it.want_no_more(instrument_id{each}).ok());
    for (const std::uint32_t each : {1, 2})
        REQUIRE(it.want({.instrument = instrument_id{each}}).ok());
    for (const std::uint32_t each : {1, 2}) REQUIRE(it.want_no_more(instrument_id{each}).ok());
    REQUIRE(it.want_no_more(instrument_id::none).ok());
    for (const std::uint32_t each : {3, 4})
        REQUIRE(it.want({.instrument = instrument_id{each}}).ok());

    REQUIRE(it.want({}).ok());
    for (const std::uint32_t each : {1, 2}) REQUIRE(it.want_no_more(instrument_id{each}).ok());
    CHECK(it.want_no_more(instrument_id{3}).error() == gyre::errc::no_buffer_space);
    CHECK(it.want({.instrument = instrument_id{3}}).error() == gyre::errc::no_buffer_space);
    CHECK(it.want_no_more(instrument_id{2}).ok());  // It is one.
    CHECK(it.want({.instrument = instrument_id{2}}).ok());
    CHECK(it.want_no_more(instrument_id::none).ok());
    for (const std::uint32_t each : {5, 6})
        CHECK(it.want({.instrument = instrument_id{each}}).ok());
}

TEST_CASE("subscriber session: as many subscriptions as there may be, beside one for all") {
    for (const bool beside_all : {false, true}) {
        CAPTURE(beside_all);
        subscriber_session it{few_markets()};
        if (beside_all) REQUIRE(it.want({}).ok());
        for (const std::uint32_t each : {1, 2})
            CHECK(it.want({.instrument = instrument_id{each}}).ok());
        CHECK(it.want({.instrument = instrument_id{3}}).error() == gyre::errc::no_buffer_space);
        CHECK(it.want({.instrument = instrument_id{2}, .depth = 1}).ok());  // In its place.
    }
}
