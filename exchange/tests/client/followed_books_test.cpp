// SPDX-License-Identifier: BSL-1.0
//
// Books out of snapshots and differences: exchange/client/followed_books.hpp.
#include <exchange/client/followed_books.hpp>

#include <doctest/doctest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

using namespace exchange;

namespace {

constexpr instrument_id gold{7};

[[nodiscard]] told_level bid(price_ticks price, std::uint32_t orders = 1) {
    return {price, 10, orders, order_side::buy};
}
[[nodiscard]] told_level ask(price_ticks price, std::uint32_t orders = 1) {
    return {price, 10, orders, order_side::sell};
}

template <class Message>
[[nodiscard]] Message with(const std::vector<told_level>& levels) {
    Message made{};
    made.instrument = gold;
    for (const told_level& each : levels) made.levels[made.count++] = each;
    made.last = true;
    return made;
}
[[nodiscard]] book_snapshot whole(std::uint64_t state, const std::vector<told_level>& levels) {
    auto made = with<book_snapshot>(levels);
    made.state = state;
    made.first = true;
    return made;
}
[[nodiscard]] book_delta change(std::uint64_t previous, std::uint64_t state,
                                const std::vector<told_level>& levels) {
    auto made = with<book_delta>(levels);
    made.previous = previous;
    made.state = state;
    return made;
}

/// Prices, best first: "100 99 | 101".
[[nodiscard]] std::string prices(const followed_market& of) {
    std::string made;
    for (std::size_t each = 0; each < of.depth(order_side::buy); ++each)
        made += std::to_string(of.level(order_side::buy, each).price) + " ";
    made += "|";
    for (std::size_t each = 0; each < of.depth(order_side::sell); ++each)
        made += " " + std::to_string(of.level(order_side::sell, each).price);
    return made;
}

}  // namespace

TEST_CASE("followed books: a snapshot and what follows it") {
    followed_books all{{}};
    CHECK(all.find(gold) == nullptr);
    CHECK(all.hear(whole(5, {bid(100), bid(98), ask(101), ask(103)})) == told_step::changed);
    const followed_market& it = *all.find(gold);
    CHECK(it.current());
    CHECK(prices(it) == "100 98 | 101 103");
    CHECK(it.best(order_side::sell)->price == 101);
    CHECK(all.hear(change(5, 9, {bid(100, 0), bid(99, 3), ask(102), ask(103, 0)})) ==
          told_step::changed);
    CHECK(prices(it) == "99 98 | 101 102");
    CHECK(it.best(order_side::buy)->orders == 3);
    CHECK(it.state() == 9);
    CHECK(all.hear(whole(12, {ask(50)})) == told_step::changed);  // In place of all.
    CHECK(prices(it) == "| 50");
    CHECK(it.best(order_side::buy) == nullptr);
}

TEST_CASE("followed books: what is told in pages shows when it is whole") {
    followed_books all{{}};
    static_cast<void>(all.hear(whole(1, {bid(10)})));
    const followed_market& it = *all.find(gold);
    book_snapshot first = whole(2, {bid(100)});
    first.last = false;
    CHECK(all.hear(first) == told_step::nothing);
    CHECK(prices(it) == "10 |");
    book_snapshot last = whole(2, {ask(101)});
    last.first = false;
    CHECK(all.hear(last) == told_step::changed);
    CHECK(prices(it) == "100 | 101");

    book_delta part = change(2, 5, {bid(100, 0)});
    part.last = false;
    CHECK(all.hear(part) == told_step::nothing);
    CHECK(prices(it) == "100 | 101");
    // Its end never comes: what was put aside is not of the next one.
    CHECK(all.hear(change(2, 6, {ask(102)})) == told_step::changed);
    CHECK(prices(it) == "100 | 101 102");
    CHECK(all.hear(change(6, 7, {bid(99)})) == told_step::changed);
    CHECK(prices(it) == "100 99 | 101 102");
}

TEST_CASE("followed books: what does not go on where the last one ended breaks the book") {
    followed_books all{{}};
    CHECK(all.hear(change(1, 2, {bid(10)})) == told_step::broken);  // Nothing was told before.
    CHECK(all.hear(whole(5, {bid(100)})) == told_step::changed);
    CHECK(all.hear(change(4, 6, {bid(101)})) == told_step::broken);
    const followed_market& it = *all.find(gold);
    CHECK_FALSE(it.current());
    CHECK(prices(it) == "100 |");  // As it was known.
    CHECK(all.hear(change(5, 6, {bid(101)})) == told_step::broken);
    CHECK(all.hear(whole(8, {bid(102)})) == told_step::changed);
    CHECK(it.current());

    book_snapshot page = whole(9, {bid(1)});
    page.first = false;
    CHECK(all.hear(page) == told_step::broken);  // Its beginning is missing.
    page = whole(10, {bid(1)});
    page.last = false;
    CHECK(all.hear(page) == told_step::nothing);
    CHECK(all.hear(change(8, 11, {bid(2)})) == told_step::broken);  // Between its pages.
    static_cast<void>(all.hear(page));
    page = whole(11, {bid(2)});
    page.first = false;
    CHECK(all.hear(page) == told_step::broken);  // Of another state.
}

TEST_CASE("followed books: without a connection nothing is current, until it is told anew") {
    followed_books all{{}};
    static_cast<void>(all.hear(whole(5, {bid(100)})));
    market_summary sums{};
    sums.instrument = gold;
    sums.complete = false;
    sums.volume = 8;
    CHECK(all.hear(sums) == told_step::changed);
    const followed_market& it = *all.find(gold);
    CHECK_FALSE(it.current());
    sums.complete = true;
    static_cast<void>(all.hear(sums));
    CHECK(it.current());
    all.doubt();
    CHECK_FALSE(it.current());
    CHECK(it.summary().volume == 8);
    CHECK(prices(it) == "100 |");
    CHECK(all.hear(change(5, 6, {bid(101)})) == told_step::broken);
    static_cast<void>(all.hear(whole(1, {bid(102)})));
    CHECK(it.current());
    all.doubt(gold);
    CHECK_FALSE(it.current());
    // A whole book is one that is told, whether or not sums are: they may not be wanted any more.
    for (const bool by_doubt : {false, true}) {
        static_cast<void>(all.hear(whole(2, {bid(102)})));
        sums.complete = false;
        static_cast<void>(all.hear(sums));
        CHECK_FALSE(it.current());
        if (by_doubt) all.doubt(gold);
        static_cast<void>(all.hear(whole(3, {bid(103)})));
        CHECK(it.current());
    }
    all.doubt(gold);
    all.doubt(instrument_id{99});
    CHECK(all.all().size() == 1);
    all.clear();
    CHECK(all.find(gold) == nullptr);
}

TEST_CASE("followed books: no more is kept than may be") {
    followed_books few{{.instruments_max = 1, .levels_max = 3}};
    static_cast<void>(few.hear(whole(1, {bid(1), bid(2), bid(3)})));
    book_snapshot other = whole(1, {bid(1)});
    other.instrument = instrument_id{8};
    CHECK(few.hear(other) == told_step::unknown);
    CHECK(few.hear(change(1, 2, {bid(4)})) == told_step::too_large);
    const followed_market& it = *few.find(gold);
    CHECK_FALSE(it.current());
    CHECK(it.depth(order_side::buy) == 0);
    CHECK(few.hear(change(2, 3, {bid(5)})) == told_step::broken);
    CHECK(few.hear(whole(4, {bid(4), bid(3), bid(2), ask(9), ask(8), ask(7)})) ==
          told_step::changed);
    CHECK(few.hear(whole(5, {bid(4), bid(3), bid(2), bid(1)})) == told_step::too_large);

    // Pages without an end.
    book_snapshot page = whole(6, std::vector<told_level>(told_levels_max, bid(1)));
    page.last = false;
    CHECK(few.hear(page) == told_step::nothing);
    page.first = false;
    CHECK(few.hear(page) == told_step::too_large);
}

TEST_CASE("followed books: any changes leave what a map of them has") {
    const unsigned seed = std::random_device{}();
    CAPTURE(seed);
    std::mt19937 chance{seed};
    followed_books all{{}};
    std::map<price_ticks, std::uint32_t> model[2];
    static_cast<void>(all.hear(whole(0, {})));
    for (std::uint64_t state = 0; state < 2'000; ++state) {
        std::vector<told_level> levels;
        for (unsigned each = chance() % 5; each > 0; --each) {
            const order_side side = chance() % 2 == 0 ? order_side::buy : order_side::sell;
            const auto price = static_cast<price_ticks>(chance() % 40);
            const auto orders = static_cast<std::uint32_t>(chance() % 3);
            levels.push_back({price, 10, orders, side});
            auto& of = model[side == order_side::buy ? 0 : 1];
            if (orders == 0) of.erase(price);
            else of[price] = orders;
        }
        REQUIRE(all.hear(change(state, state + 1, levels)) == told_step::changed);
        std::string wanted;
        for (auto each = model[0].rbegin(); each != model[0].rend(); ++each)
            wanted += std::to_string(each->first) + " ";
        wanted += "|";
        for (const auto& [price, orders] : model[1]) wanted += " " + std::to_string(price);
        REQUIRE(prices(*all.find(gold)) == wanted);
    }
}
