// SPDX-License-Identifier: BSL-1.0
#include <exchange/net/application/market_updates.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <random>
#include <vector>

using namespace exchange;

namespace {

constexpr instrument_id first{1};

/// What a subscriber makes of messages, by the rules that it is told: it knows no book but its own.
class subscriber final : public market_message_sink {
public:
    explicit subscriber(subscribe wanted) : wanted{wanted} {}

    bool take(std::span<const std::byte> message) noexcept override {
        if (room == 0) return false;
        --room;
        ++messages;
        REQUIRE_FALSE(decode_market_message(message, *this));
        return true;
    }

    void operator()(const book_snapshot& it) {
        if (it.first) levels.clear();
        put(it.levels, it.count);
        if (it.last) state = it.state;
        ++snapshots;
    }
    void operator()(const book_delta& it) {
        REQUIRE(state == it.previous);
        put(it.levels, it.count);
        if (it.last) state = it.state;
        ++deltas;
    }
    void operator()(const trades_printed& it) {
        dropped += it.dropped;
        next_trade += it.dropped;
        for (std::uint16_t each = 0; each < it.count; ++each)
            REQUIRE(number(it.trades[each].id) == next_trade++);
    }
    void operator()(const market_summary& it) {
        summary = it;
        if (!it.complete) state.reset();
    }
    void operator()(const subscribe&) { ++strange; }  // What is not told here.
    void operator()(const unsubscribe&) { ++strange; }
    void operator()(const subscribed&) { ++strange; }
    void operator()(const subscription_refused&) { ++strange; }

    /// Is told as much as there is room for.
    bool look(market_updates& by, const market_book& at, std::size_t messages_max = 1000) {
        room = messages_max;
        const bool all = by.tell(at, wanted, seen, *this);
        REQUIRE(strange == 0);
        return all;
    }

    [[nodiscard]] std::vector<book_level> side(order_side which) const {
        std::vector<book_level> made;
        for (const auto& [at, level] : levels)
            if (at.first == which) made.push_back(level);
        if (which == order_side::buy) std::ranges::reverse(made);
        return made;  // Best first.
    }

    subscribe wanted;
    market_seen seen{};
    std::map<std::pair<order_side, price_ticks>, book_level> levels;
    std::optional<std::uint64_t> state;
    std::optional<market_summary> summary;
    std::uint64_t next_trade = 1;
    std::uint64_t dropped = 0;
    std::size_t room = 0;
    std::size_t messages = 0;
    int snapshots = 0;
    int deltas = 0;
    int strange = 0;

private:
    void put(const std::array<told_level, told_levels_max>& all, std::uint16_t count) {
        for (std::uint16_t each = 0; each < count; ++each) {
            const told_level& it = all[each];
            if (it.orders == 0) levels.erase({it.side, it.price});
            else levels[{it.side, it.price}] = {it.price, it.quantity, it.orders};
        }
    }
};

subscribe wants(std::uint16_t depth) { return {1, first, depth, true, true, true}; }

std::vector<book_level> best_of_book(const market_book& of, order_side side, std::size_t depth) {
    const auto levels = of.levels(side);
    std::vector<book_level> made{levels.rbegin(), levels.rend()};
    if (depth > 0 && made.size() > depth) made.resize(depth);
    return made;
}

/// A feed of one market.
class feed {
public:
    explicit feed(std::uint64_t seed, market_books_options how = {})
        : books{how, true}, dice{seed} {}

    template <class Event>
    void say(const Event& it) {
        std::array<std::byte, message_bytes_of<Event>> bytes{};
        const event_stamp stamp{out_sequence{next}, in_sequence{next}, timestamp_ns{next}, 0, true};
        encode(it, stamp, std::span{bytes});
        REQUIRE_FALSE(books.hear(next++, bytes));
    }
    void set(order_side side, price_ticks price, std::uint32_t orders) {
        say(price_level_update{price, orders * 10ULL, first, orders, side});
    }
    void print() { say(trade{trade_id{++trades}, 7, first, 1, order_side::buy}); }
    void anything() {
        const auto what = dice() % 10;
        if (what == 0) print();
        else if (what == 1) say(market_statistics{1, 2, 1, 2, trades, first, 1});
        else
            set(dice() % 2 == 0 ? order_side::buy : order_side::sell,
                static_cast<price_ticks>(dice() % 200) - 100,
                static_cast<std::uint32_t>(dice() % 3));
    }
    [[nodiscard]] const market_book& book() const { return *books.find(first); }

    market_books books;
    std::mt19937_64 dice;
    std::uint64_t next = 1;
    std::uint64_t trades = 0;
};

void check_told(const subscriber& it, const feed& of) {
    for (const order_side side : {order_side::buy, order_side::sell})
        REQUIRE(it.side(side) == best_of_book(of.book(), side, it.wanted.depth));
}

}  // namespace

TEST_CASE(
    "market_updates: whoever is told, and however often, has the book, and each trade or its "
    "loss") {
    const auto seed = std::random_device{}();
    CAPTURE(seed);
    feed all{seed, {.changes_max = 256, .trades_max = 16}};
    all.anything();
    all.set(order_side::buy, 1, 1);
    market_updates by;
    std::vector<subscriber> crowd;
    for (const std::uint16_t depth : {0, 1, 3, 32, 0, 5, 0}) crowd.emplace_back(wants(depth));
    for (subscriber& each : crowd) {
        each.seen = market_updates::begin(all.book());
        each.next_trade = all.trades + 1;
    }
    for (int turn = 0; turn < 20'000; ++turn) {
        all.anything();
        std::uint64_t often = 1;
        for (subscriber& each : crowd) {
            if (all.dice() % often == 0) {
                REQUIRE(each.look(by, all.book()));
                check_told(each, all);
                REQUIRE_FALSE(market_updates::due(all.book(), each.seen));
                REQUIRE(each.next_trade == all.trades + 1);
            }
            often *= 3;
        }
    }
    CHECK(crowd[0].snapshots <= 2);
    CHECK(crowd[0].deltas > 1000);
    CHECK(crowd[0].dropped == 0);
    CHECK(crowd[6].snapshots > 2);
    CHECK(crowd[6].dropped > 0);
}

TEST_CASE("market_updates: one that has little room is told all the same, once it has it") {
    const auto seed = std::random_device{}();
    CAPTURE(seed);
    feed all{seed};
    market_updates by;
    for (price_ticks each = 1; each < 150; ++each) {
        all.set(order_side::buy, -each, 1);
        all.set(order_side::sell, each, 1);
    }
    subscriber it{wants(0)};
    it.seen = market_updates::begin(all.book());
    for (int turn = 0; turn < 3000; ++turn) {
        if (turn % 3 == 0) all.anything();
        if (it.look(by, all.book(), all.dice() % 7)) check_told(it, all);
    }
    REQUIRE(it.look(by, all.book()));
    check_told(it, all);
    CHECK(it.next_trade == all.trades + 1);
    CHECK(it.dropped == 0);
}

TEST_CASE("market_updates: many changes arrive in parts, however little room there is") {
    const auto seed = std::random_device{}();
    CAPTURE(seed);
    feed all{seed};
    market_updates by;
    for (price_ticks each = 1; each <= 300; ++each) {
        all.set(order_side::buy, -each, 1);
        all.set(order_side::sell, each, 1);
    }
    subscriber it{wants(0)};
    it.seen = market_updates::begin(all.book());
    REQUIRE(it.look(by, all.book()));
    for (const bool quiet : {true, false}) {
        for (price_ticks each = 1; each <= 300; ++each) {
            all.set(order_side::buy, -each, quiet ? 2 : 3);
            all.set(order_side::sell, each, quiet ? 0 : 4);
            if (each % 3 == 0) all.print();  // More trades than there is room for, as well.
        }
        const int snapshots = it.snapshots;
        int rounds = 0;
        for (bool all_told = false; !all_told && rounds < 1000; ++rounds) {
            all_told = it.look(by, all.book(), 1);
            REQUIRE(market_updates::due(all.book(), it.seen) == !all_told);
            if (!quiet && rounds < 10) all.anything();
        }
        CHECK(rounds < 100);
        CHECK(it.snapshots == snapshots);
        CHECK(it.next_trade == all.trades + 1);
        check_told(it, all);
    }
}

TEST_CASE("market_updates: a large book arrives in parts, though it changes all the while") {
    const auto seed = std::random_device{}();
    CAPTURE(seed);
    feed all{seed, {.changes_max = 4096}};
    market_updates by;
    for (price_ticks each = 1; each < 2000; ++each) {
        all.set(order_side::buy, -each, 1);
        all.set(order_side::sell, each, 1);
    }
    subscriber it{wants(0)};
    it.seen = market_updates::begin(all.book());
    int rounds = 0;
    for (bool all_told = false; !all_told && rounds < 1000; ++rounds) {
        all_told = it.look(by, all.book(), 1 + all.dice() % 4);
        if (all_told) check_told(it, all);
        all.anything();
    }
    CHECK(rounds < 200);
    // Far behind, it takes the book again, in parts as well.
    for (price_ticks each = 1; each < 1500; ++each) all.set(order_side::buy, -each, 2);
    rounds = 0;
    for (bool all_told = false; !all_told && rounds < 1000; ++rounds)
        all_told = it.look(by, all.book(), 3);
    CHECK(rounds < 100);
    check_told(it, all);
}

TEST_CASE("market_updates: a level that changes a thousand times is told once") {
    feed all{1};
    market_updates by;
    all.set(order_side::buy, 5, 1);
    subscriber it{wants(0)};
    it.seen = market_updates::begin(all.book());
    REQUIRE(it.look(by, all.book()));
    REQUIRE(it.summary);  // Though nothing of it has changed since.
    CHECK(it.summary->complete);
    const std::size_t before = it.messages;
    for (std::uint32_t each = 1; each <= 1000; ++each) all.set(order_side::buy, 5, each);
    REQUIRE(it.look(by, all.book()));
    CHECK(it.messages == before + 1);
    CHECK(it.side(order_side::buy) == std::vector<book_level>{{5, 10'000, 1000}});
    REQUIRE(it.look(by, all.book()));
    CHECK(it.messages == before + 1);
}

TEST_CASE("market_updates: a subscriber to the best hears nothing of what lies behind them") {
    feed all{1};
    market_updates by;
    for (price_ticks each = 1; each <= 5; ++each) all.set(order_side::buy, each, 1);
    subscriber it{wants(2)};
    it.seen = market_updates::begin(all.book());
    REQUIRE(it.look(by, all.book()));
    const std::size_t before = it.messages;
    all.set(order_side::buy, 3, 2);
    all.set(order_side::buy, 1, 0);
    REQUIRE(it.look(by, all.book()));
    CHECK(it.messages == before);
    all.set(order_side::buy, 5, 0);  // So the third best comes in.
    REQUIRE(it.look(by, all.book()));
    CHECK(it.messages == before + 1);
    CHECK(it.side(order_side::buy) == std::vector<book_level>{{4, 10, 1}, {3, 20, 2}});
}

TEST_CASE("market_updates: what is not wanted is not told, but the loss of a book is") {
    feed all{1};
    market_updates by;
    all.set(order_side::buy, 5, 1);
    subscriber trades_only{{1, first, 0, false, true, false}};
    subscriber book_only{{1, first, 0, true, false, false}};
    for (subscriber* const each : {&trades_only, &book_only}) {
        each->seen = market_updates::begin(all.book());
        REQUIRE(each->look(by, all.book()));
    }
    CHECK(trades_only.messages == 0);
    CHECK(book_only.messages == 1);
    all.print();
    all.say(phase_changed{first, market_phase::halted});
    for (subscriber* const each : {&trades_only, &book_only}) REQUIRE(each->look(by, all.book()));
    CHECK(trades_only.messages == 1);
    CHECK(trades_only.next_trade == 2);
    CHECK(book_only.messages == 1);
    all.books.lose(all.next + 1);
    ++all.next;
    for (subscriber* const each : {&trades_only, &book_only}) REQUIRE(each->look(by, all.book()));
    CHECK(trades_only.messages == 1);
    REQUIRE(book_only.summary);
    CHECK_FALSE(book_only.summary->complete);
    // One that comes just now has no book, and there is no use in asking again before there is one.
    subscriber late{wants(0)};
    late.seen = market_updates::begin(all.book());
    CHECK(market_updates::due(all.book(), late.seen));
    REQUIRE(late.look(by, all.book()));
    CHECK_FALSE(late.state);
    CHECK_FALSE(late.summary->complete);
    CHECK_FALSE(market_updates::due(all.book(), late.seen));
    // Found again, it is told whole.
    all.books.recover(first);
    for (const order_side side : {order_side::buy, order_side::sell}) {
        book_page page{};
        page.next_in_feed = all.next;
        page.from = best_of(side);
        page.instrument = first;
        page.side = side;
        page.phase = market_phase::continuous;
        page.last = true;
        if (side == order_side::buy) {
            page.count = 1;
            page.levels[0] = {6, 60, 6};
        }
        all.books.splice(page);
    }
    for (subscriber* const each : {&book_only, &late}) {
        CHECK(market_updates::due(all.book(), each->seen));
        REQUIRE(each->look(by, all.book()));
        CHECK(each->summary->complete);
        check_told(*each, all);
    }
    CHECK(book_only.side(order_side::buy) == std::vector<book_level>{{6, 60, 6}});
}
