// SPDX-License-Identifier: BSL-1.0
#include <exchange/net/application/market_books.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <iterator>
#include <map>
#include <random>
#include <vector>

using namespace exchange;

namespace {

constexpr instrument_id first{1};

/// The exchange: what is true, and the feed that says so.
class truth {
public:
    using side = std::map<price_ticks, book_level>;

    explicit truth(std::uint64_t seed) : dice_{seed} {}

    std::vector<std::byte> set(instrument_id in, order_side where, const book_level& level) {
        side& levels = sides(in)[where == order_side::buy ? 0 : 1];
        if (level.orders == 0) levels.erase(level.price);
        else levels[level.price] = level;
        return message(price_level_update{level.price, level.quantity, in, level.orders, where});
    }
    /// A level of a few near each other, which comes, changes or goes.
    std::vector<std::byte> anything(instrument_id in) {
        const auto where = dice_() % 2 == 0 ? order_side::buy : order_side::sell;
        const auto price = static_cast<price_ticks>(dice_() % 40) - 20;
        const auto orders = static_cast<std::uint32_t>(dice_() % 3);
        return set(in, where, {price, orders * 10ULL, orders});
    }
    template <class Event>
    std::vector<std::byte> message(const Event& it) {
        std::vector<std::byte> made(message_bytes_of<Event>);
        const event_stamp stamp{out_sequence{next_}, in_sequence{next_}, timestamp_ns{next_}, 0,
                                true};
        encode(it, stamp, std::span<std::byte, message_bytes_of<Event>>{made});
        ++next_;
        return made;
    }
    /// What a facility answers: levels from a price on, best first.
    book_page page(instrument_id in, order_side where, price_ticks from, std::size_t levels_max) {
        book_page made{};
        made.next_in_feed = next_;
        made.from = from;
        made.instrument = in;
        made.side = where;
        made.phase = market_phase::continuous;
        made.last = true;
        const auto add = [&](const book_level& each) {
            if (where == order_side::buy ? each.price > from : each.price < from) return;
            if (made.count == levels_max) made.last = false;
            else if (made.last) made.levels[made.count++] = each;
        };
        const side& of = sides(in)[where == order_side::buy ? 0 : 1];
        if (where == order_side::buy)
            for (auto each = of.rbegin(); each != of.rend(); ++each) add(each->second);
        else
            for (const auto& [price, level] : of) add(level);
        return made;
    }
    [[nodiscard]] std::vector<book_level> levels(instrument_id in, order_side where) {
        std::vector<book_level> made;
        for (const auto& [price, level] : sides(in)[where == order_side::buy ? 0 : 1])
            made.push_back(level);
        if (where == order_side::sell) std::ranges::reverse(made);
        return made;  // Worst first.
    }
    [[nodiscard]] std::uint64_t next() const { return next_; }
    [[nodiscard]] std::uint64_t below(std::uint64_t limit) { return dice_() % limit; }

private:
    std::array<side, 2>& sides(instrument_id in) { return books_[in]; }

    std::mt19937_64 dice_;
    std::map<instrument_id, std::array<side, 2>> books_;
    std::uint64_t next_ = 1;
};

std::vector<book_level> levels_of(const market_books& in, instrument_id which, order_side side) {
    const market_book* const book = in.find(which);
    REQUIRE(book != nullptr);
    const auto levels = book->levels(side);
    return {levels.begin(), levels.end()};
}

void check_equal(const market_books& known, truth& real, instrument_id which) {
    for (const order_side side : {order_side::buy, order_side::sell})
        REQUIRE(levels_of(known, which, side) == real.levels(which, side));
}

market_book::state state_of(const market_books& in, instrument_id which = first) {
    return in.find(which)->book();
}

/// One that looks now and then, and has levels only from what it is told.
class subscriber {
public:
    void look(const market_book& at) {
        if (seen_ < at.oldest()) {
            ++snapshots;
            for (const order_side side : {order_side::buy, order_side::sell}) {
                auto& mine = levels_[side == order_side::buy ? 0 : 1];
                mine.clear();
                for (const book_level& each : at.levels(side)) mine[each.price] = each;
            }
        } else {
            for (std::uint64_t each = seen_; each < at.version(); ++each) {
                const market_book::change& it = at.change_at(each);
                if (it.part != market_part::level) continue;
                auto& mine = levels_[it.side == order_side::buy ? 0 : 1];
                const book_level now = at.level_at(it.side, it.price);
                if (now.orders == 0) mine.erase(it.price);
                else mine[it.price] = now;
            }
        }
        seen_ = at.version();
        for (const order_side side : {order_side::buy, order_side::sell}) {
            std::vector<book_level> mine;
            for (const auto& [price, level] : levels_[side == order_side::buy ? 0 : 1])
                mine.push_back(level);
            if (side == order_side::sell) std::ranges::reverse(mine);
            REQUIRE(std::ranges::equal(mine, at.levels(side)));
        }
    }
    int snapshots = 0;

private:
    std::array<std::map<price_ticks, book_level>, 2> levels_;
    std::uint64_t seen_ = 0;
};

}  // namespace

TEST_CASE(
    "market_books: heard from the beginning, books are those of the exchange after each message") {
    const auto seed = std::random_device{}();
    CAPTURE(seed);
    truth real{seed};
    market_books known{{}, true};
    for (int each = 0; each < 5000; ++each) {
        const instrument_id which{static_cast<std::uint32_t>(1 + real.below(3))};
        const std::uint64_t sequence = real.next();
        REQUIRE_FALSE(known.hear(sequence, real.anything(which)));
        check_equal(known, real, which);
        REQUIRE(state_of(known, which) == market_book::state::complete);
    }
    CHECK(known.next_in_feed() == real.next());
    CHECK(known.all().size() == 3);
}

TEST_CASE(
    "market_books: a subscriber that looks now and then has the book each time, however late") {
    const auto seed = std::random_device{}();
    CAPTURE(seed);
    truth real{seed};
    market_books known{{.changes_max = 64}, true};
    std::array<subscriber, 4> crowd;  // Each looks less often than the one before.
    for (int each = 0; each < 20'000; ++each) {
        REQUIRE_FALSE(known.hear(real.next(), real.anything(first)));
        std::uint64_t often = 1;
        for (subscriber& one : crowd) {
            if (real.below(often) == 0) one.look(*known.find(first));
            often *= 8;
        }
    }
    CHECK(crowd[0].snapshots <= 1);
    CHECK(crowd[3].snapshots > 1);
}

TEST_CASE("market_books: pages and feed are spliced, whatever changes between two pages") {
    const auto seed = std::random_device{}();
    CAPTURE(seed);
    truth real{seed};
    for (int round = 0; round < 200; ++round) {
        market_books known{{}, false};
        // What is heard comes later than it is said: the network has some of it.
        std::vector<std::pair<std::uint64_t, std::vector<std::byte>>> under_way;
        const auto say = [&] {
            const std::uint64_t sequence = real.next();
            under_way.emplace_back(sequence, real.anything(first));
        };
        const auto hear_some = [&](std::size_t most) {
            const std::size_t count = std::min<std::size_t>(real.below(most + 1), under_way.size());
            for (std::size_t each = 0; each < count; ++each)
                REQUIRE_FALSE(known.hear(under_way[each].first, under_way[each].second));
            under_way.erase(under_way.begin(),
                            std::next(under_way.begin(), static_cast<std::ptrdiff_t>(count)));
        };
        for (int each = 0; each < 30; ++each) static_cast<void>(real.anything(first));
        known.lose(real.next());
        say();
        hear_some(1);
        known.recover(first);
        CHECK(state_of(known) == market_book::state::recovering);
        for (const order_side side : {order_side::buy, order_side::sell}) {
            price_ticks from = best_of(side);
            for (bool last = false; !last;) {
                const book_page page = real.page(first, side, from, 1 + real.below(5));
                if (page.count > 0)
                    from = page.levels[page.count - 1].price + (side == order_side::buy ? -1 : 1);
                last = page.last;
                for (std::uint64_t each = real.below(4); each > 0; --each) say();
                hear_some(3);
                known.splice(page);
            }
        }
        hear_some(0);
        while (!under_way.empty()) hear_some(under_way.size());
        say();
        while (!under_way.empty()) hear_some(under_way.size());
        REQUIRE(state_of(known) == market_book::state::complete);
        check_equal(known, real, first);
        say();
        while (!under_way.empty()) hear_some(1);
        check_equal(known, real, first);
    }
}

TEST_CASE(
    "market_books: a page that knows more than the feed has said does not make a book complete") {
    truth real{1};
    market_books known{{}, false};
    known.recover(first);
    const std::vector<std::byte> late = real.set(first, order_side::buy, {5, 10, 1});
    known.splice(real.page(first, order_side::buy, best_of(order_side::buy), 64));
    known.splice(real.page(first, order_side::sell, best_of(order_side::sell), 64));
    CHECK(state_of(known) == market_book::state::recovering);
    CHECK_FALSE(known.hear(1, late));
    CHECK(state_of(known) == market_book::state::complete);
    check_equal(known, real, first);
}

TEST_CASE(
    "market_books: a loss is told, and a subscriber takes the book anew when it is complete") {
    truth real{1};
    market_books known{{}, true};
    subscriber one;
    CHECK_FALSE(known.hear(real.next(), real.set(first, order_side::buy, {5, 10, 1})));
    one.look(*known.find(first));
    const std::uint64_t before = known.find(first)->version();
    static_cast<void>(real.set(first, order_side::buy, {6, 10, 1}));  // Which is lost.
    known.lose(real.next());
    CHECK(state_of(known) == market_book::state::incomplete);
    CHECK(known.find(first)->version() > before);
    one.look(*known.find(first));  // Now it has all that is known, which is not all.
    known.recover(first);
    for (const order_side side : {order_side::buy, order_side::sell})
        known.splice(real.page(first, side, best_of(side), 64));
    CHECK(state_of(known) == market_book::state::complete);
    CHECK(known.find(first)->oldest() > before);
    one.look(*known.find(first));
    check_equal(known, real, first);
}

TEST_CASE("market_books: another life has nothing of the one before it") {
    truth old{1};
    market_books known{{}, true};
    CHECK_FALSE(known.hear(1, old.set(first, order_side::sell, {5, 10, 1})));
    CHECK_FALSE(known.hear(2, old.message(phase_changed{first, market_phase::continuous})));
    subscriber one;
    one.look(*known.find(first));
    const std::uint64_t before = known.find(first)->version();
    known.begin_anew();
    one.look(*known.find(first));
    CHECK(known.next_in_feed() == 1);
    CHECK(known.find(first)->levels(order_side::sell).empty());
    CHECK(known.find(first)->phase() == market_phase::closed);
    CHECK(known.find(first)->oldest() > before);
    CHECK(state_of(known) == market_book::state::complete);
}

TEST_CASE("market_books: trades, sums, phases and indications are known, and noted as changes") {
    truth real{1};
    market_books known{{}, true};
    CHECK_FALSE(known.hear(1, real.message(phase_changed{first, market_phase::pre_open})));
    const auction_indication indicated{7, 5, 1, first, order_side::buy};
    CHECK_FALSE(known.hear(2, real.message(indicated)));
    const trade traded{trade_id{9}, 7, first, 5, order_side::sell};
    CHECK_FALSE(known.hear(3, real.message(traded)));
    const market_statistics sums{7, 7, 7, 7, 5, first, 1};
    CHECK_FALSE(known.hear(4, real.message(sums)));
    CHECK_FALSE(known.hear(5, real.message(trade_busted{trade_id{9}, 7, first, 5})));
    const market_book& book = *known.find(first);
    CHECK(book.phase() == market_phase::pre_open);
    CHECK(book.indication() == indicated);
    CHECK(book.statistics() == sums);
    CHECK(book.trades() == 2);
    REQUIRE(book.version() == 5);
    CHECK(book.change_at(2).part == market_part::trade);
    CHECK(book.trade_at(0).what == traded);
    CHECK_FALSE(book.trade_at(0).busted);
    CHECK(book.trade_at(0).time == timestamp_ns{3});
    CHECK(book.change_at(4).part == market_part::trade);
    CHECK(book.trade_at(1).busted);
    CHECK(book.oldest_trade() == 0);
    CHECK(book.change_at(3).part == market_part::statistics);
}

TEST_CASE("market_books: what there is no room for is told, and grows nothing") {
    truth real{1};
    market_books known{{.instruments_max = 2, .levels_max = 3, .changes_max = 10}, true};
    for (const std::uint32_t each : {1U, 2U, 3U, 70'000U})
        CHECK_FALSE(
            known.hear(real.next(), real.set(instrument_id{each}, order_side::buy, {1, 1, 1})));
    CHECK(known.all().size() == 2);
    CHECK(known.unfollowed() == 2);
    for (price_ticks price = 2; price < 100; ++price)
        CHECK_FALSE(known.hear(real.next(), real.set(first, order_side::buy, {price, 1, 1})));
    CHECK(state_of(known) == market_book::state::incomplete);
    CHECK(state_of(known, instrument_id{2}) == market_book::state::complete);
    CHECK(known.find(first)->levels(order_side::buy).size() == 3);
    CHECK(known.find(first)->version() - known.find(first)->oldest() == 10);
    for (std::uint64_t each = 1; each <= 300; ++each)
        CHECK_FALSE(known.hear(real.next(), real.message(trade{trade_id{each}, 1, first, 1, {}})));
    CHECK(known.find(first)->trades() == 300);
    CHECK(known.find(first)->oldest_trade() == 44);
    CHECK(known.find(first)->trade_at(44).what.id == trade_id{45});
    CHECK(known.find(first)->trade_at(299).what.id == trade_id{300});
    const std::vector<std::byte> nonsense(7);
    CHECK(known.hear(real.next(), nonsense));
}

namespace {

/// All levels of a side in one page, as old as is said.
book_page page_of(order_side side, price_ticks from, std::uint64_t next_in_feed, market_phase phase,
                  std::initializer_list<price_ticks> prices) {
    book_page made{};
    made.next_in_feed = next_in_feed;
    made.from = from;
    made.instrument = first;
    made.side = side;
    made.phase = phase;
    made.last = true;
    for (const price_ticks each : prices) made.levels[made.count++] = {each, 10, 1};
    return made;
}

}  // namespace

TEST_CASE("market_books: a page that is older than the feed does not undo a phase") {
    truth real{1};
    market_books known{{}, false};
    CHECK_FALSE(known.hear(1, real.message(phase_changed{first, market_phase::pre_open})));
    known.recover(first);
    CHECK_FALSE(known.hear(2, real.message(phase_changed{first, market_phase::continuous})));
    for (const order_side side : {order_side::buy, order_side::sell})
        known.splice(page_of(side, best_of(side), 2, market_phase::pre_open, {}));
    CHECK(state_of(known) == market_book::state::complete);
    CHECK(known.find(first)->phase() == market_phase::continuous);
}

TEST_CASE("market_books: a page tells a phase that was lost") {
    truth real{1};
    market_books known{{}, false};
    CHECK_FALSE(known.hear(1, real.message(phase_changed{first, market_phase::pre_open})));
    known.lose(9);
    known.recover(first);
    for (const order_side side : {order_side::buy, order_side::sell})
        known.splice(page_of(side, best_of(side), 9, market_phase::halted, {}));
    CHECK(known.find(first)->phase() == market_phase::halted);
}

TEST_CASE("market_books: what an auction would trade is over with it, and lost with messages") {
    truth real{1};
    market_books known{{}, true};
    const auction_indication indicated{7, 5, 1, first, order_side::buy};
    CHECK_FALSE(known.hear(1, real.message(indicated)));
    CHECK_FALSE(known.hear(2, real.message(phase_changed{first, market_phase::continuous})));
    CHECK(known.find(first)->indication() == auction_indication{});
    CHECK_FALSE(known.hear(3, real.message(indicated)));
    known.lose(9);
    CHECK(known.find(first)->indication() == auction_indication{});
}

TEST_CASE("market_books: an instrument with a large number is followed when all places are taken") {
    truth real{1};
    market_books known{{.instruments_max = 1}, true};
    const instrument_id large{70'000};
    for (const price_ticks price : {1, 2})
        CHECK_FALSE(known.hear(real.next(), real.set(large, order_side::buy, {price, 10, 1})));
    CHECK(known.unfollowed() == 0);
    check_equal(known, real, large);
}

TEST_CASE("market_books: pages of an earlier try are not taken for those of the next") {
    truth real{1};
    market_books known{{}, false};
    constexpr auto phase = market_phase::continuous;
    constexpr price_ticks best_buy = best_of(order_side::buy);
    for (price_ticks price = 20; price > 16; --price)
        CHECK_FALSE(known.hear(real.next(), real.set(first, order_side::buy, {price, 10, 1})));
    known.recover(first);
    CHECK_FALSE(known.hear(real.next(), real.set(first, order_side::buy, {30, 10, 1})));
    known.recover(first);
    known.splice(page_of(order_side::buy, 18, 6, phase, {18, 17}));            // No first one.
    known.splice(page_of(order_side::buy, best_buy, 5, phase, {20, 19, 18}));  // Too old.
    book_page begun = page_of(order_side::buy, best_buy, 6, phase, {30, 20});
    begun.last = false;
    known.splice(begun);
    known.splice(begun);                                             // Once more.
    known.splice(page_of(order_side::buy, 18, 6, phase, {18, 17}));  // Leaves one out.
    known.splice(page_of(order_side::sell, best_of(order_side::sell), 6, phase, {}));
    CHECK(state_of(known) == market_book::state::recovering);
    known.splice(page_of(order_side::buy, 19, 6, phase, {19, 18, 17}));
    CHECK(state_of(known) == market_book::state::complete);
    check_equal(known, real, first);
}

TEST_CASE("market_books: trades of a life that is over are not those of the next") {
    truth old{1};
    market_books known{{}, true};
    CHECK_FALSE(known.hear(1, old.message(trade{trade_id{900}, 7, first, 1, order_side::buy})));
    known.begin_anew();
    truth real{1};
    CHECK_FALSE(known.hear(1, real.message(trade{trade_id{1}, 7, first, 1, order_side::buy})));
    const market_book& book = *known.find(first);
    CHECK(book.trades() == 2);
    REQUIRE(book.oldest_trade() == 1);
    CHECK(book.trade_at(1).what.id == trade_id{1});
}

TEST_CASE("market_books: that pages of a complete book are asked for is a change") {
    truth real{1};
    market_books known{{}, true};
    CHECK_FALSE(known.hear(1, real.set(first, order_side::buy, {1, 10, 1})));
    const std::uint64_t before = known.find(first)->version();
    known.recover(first);
    CHECK(known.find(first)->version() == before + 1);
    known.recover(first);
    CHECK(known.find(first)->version() == before + 1);
}
