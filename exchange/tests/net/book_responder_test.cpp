// SPDX-License-Identifier: BSL-1.0
//
// Pages are what the book is, and with the feed behind them they are the book, however it changes.
#include <exchange/net/application/book_responder.hpp>

#include <exchange/tests/net/socketless_client.hpp>
#include <exchange/tests/net/venue_with_two_traders.hpp>

#include <doctest/doctest.h>

#include <map>
#include <random>

using namespace exchange;
using namespace exchange::testing;

namespace {

struct levels_of_side {
    std::map<price_ticks, std::pair<contracts_total, std::uint32_t>> levels;

    bool operator==(const levels_of_side&) const = default;
};

// A market whose prices lie far apart as well as side by side.
struct venue_with_a_book {
    venue_with_a_book() : host{options(), day_start} { open_market(host); }

    static order_entry_host_options options() {
        order_entry_host_options made = two_traders();
        made.sequencing.limits.level_chunks_max = 2048;
        made.sequencing.limits.far_nodes_max = 2048;
        return made;
    }

    void enter(order_side side, price_ticks price, contracts quantity) {
        enter_order it = limit(client_sequence{++sequence}, side, price, quantity);
        it.session = side == order_side::buy ? alice : bob;  // None trades with itself.
        host.apply(it);
    }

    [[nodiscard]] book_page ask(order_side side, price_ticks from) {
        std::array<std::byte, message_bytes_of<book_request>> question;
        encode(book_request{the_market, from, side}, question);
        std::optional<book_page> found;
        const auto bytes = answer_of(host, question);
        CHECK(decode_book_answer(bytes, [&]<class Answer>(const Answer& it) {
                  if constexpr (std::is_same_v<Answer, book_page>) found = it;
              }) == decode_fault{});
        REQUIRE(found);
        return *found;
    }

    // The truth, by a walk over all levels.
    [[nodiscard]] levels_of_side real(order_side side) const {
        levels_of_side made;
        const venue& state = host.market().state();
        const ladder& levels = state.markets[number(the_market)].book.of(side);
        const level_memory& memory = state.memory.levels;
        for (level_index at = levels.best(); at != 0; at = levels.after(memory, at)) {
            const price_level& it = memory.chunks.level(at);
            made.levels[price_of(side, ladder::rank_of(memory, at))] = {it.quantity, it.orders};
        }
        return made;
    }

    order_entry_host host;
    std::uint32_t sequence = 0;
};

// Where the next page begins.
price_ticks behind(const book_page& it) {
    const price_ticks worst = it.levels[it.count - 1u].price;
    return it.side == order_side::buy ? worst - 1 : worst + 1;
}

void add(levels_of_side& to, const book_page& page) {
    for (std::size_t each = 0; each < page.count; ++each)
        to.levels[page.levels[each].price] = {page.levels[each].quantity, page.levels[each].orders};
}

// Applies what the feed told from `sequence` on.
void apply_feed(levels_of_side& to, order_side side, const mold_sender& feed,
                std::uint64_t sequence) {
    const auto apply = [&]<class Event>(const event_stamp&, const Event& it) {
        if constexpr (std::is_same_v<Event, price_level_update>) {
            if (it.side != side) return;
            if (it.orders == 0) to.levels.erase(it.price);
            else to.levels[it.price] = {it.quantity, it.orders};
        }
    };
    const message_log& messages = feed.messages();
    REQUIRE(sequence >= messages.first_sequence());
    for (; sequence != messages.next_sequence(); ++sequence) {
        const auto framed = messages.framed(sequence);
        CHECK_FALSE(decode_public_event(framed.subspan(mold_block_bytes), apply));
    }
}

}  // namespace

TEST_CASE("the first page has the best levels of a side, best first, and the feed's next number") {
    venue_with_a_book it;
    it.enter(order_side::buy, 100, 5);
    it.enter(order_side::buy, 100, 7);
    it.enter(order_side::buy, 90, 1);
    it.enter(order_side::sell, 110, 3);

    const book_page bids = it.ask(order_side::buy, best_of(order_side::buy));
    REQUIRE(bids.count == 2);
    CHECK(bids.levels[0] == book_level{100, 12, 2});
    CHECK(bids.levels[1] == book_level{90, 1, 1});
    CHECK(bids.last);
    CHECK(bids.phase == market_phase::continuous);
    CHECK(bids.next_in_feed == it.host.feed().messages().next_sequence());

    const book_page asks = it.ask(order_side::sell, best_of(order_side::sell));
    REQUIRE(asks.count == 1);
    CHECK(asks.levels[0] == book_level{110, 3, 1});
    CHECK(it.ask(order_side::sell, 111).count == 0);
    CHECK(it.ask(order_side::sell, 111).last);
    CHECK(it.ask(order_side::buy, 99).count == 1);
}

TEST_CASE("a page is bounded, and the next one begins where it ended") {
    venue_with_a_book it;
    for (price_ticks price = 1; price <= 150; ++price) it.enter(order_side::sell, price * 10, 1);

    const book_page first = it.ask(order_side::sell, best_of(order_side::sell));
    CHECK(first.count == book_page_levels_max);
    CHECK_FALSE(first.last);
    const book_page second = it.ask(order_side::sell, behind(first));
    CHECK(second.levels[0].price == 650);
    const book_page third = it.ask(order_side::sell, behind(second));
    CHECK(third.count == 150 - 2 * book_page_levels_max);
    CHECK(third.last);
}

TEST_CASE("exactly one page is the last one") {
    venue_with_a_book it;
    for (price_ticks price = 1; price <= book_page_levels_max; ++price)
        it.enter(order_side::buy, price, 1);
    CHECK(it.ask(order_side::buy, best_of(order_side::buy)).last);
}

TEST_CASE("a market that is not there is refused by name") {
    venue_with_a_book it;
    for (const std::uint32_t each : {2u, 4u, 5u, 4'000'000'000u}) {
        std::array<std::byte, message_bytes_of<book_request>> question;
        encode(book_request{instrument_id{each}, 0, order_side::buy}, question);
        std::optional<book_refused> found;
        const auto bytes = answer_of(it.host, question);
        CHECK_FALSE(decode_book_answer(bytes, [&]<class Answer>(const Answer& told) {
            if constexpr (std::is_same_v<Answer, book_refused>) found = told;
        }));
        CHECK(found == book_refused{instrument_id{each}, reject_reason::unknown_instrument});
    }
}

TEST_CASE("a question changes nothing, and half of one is none") {
    venue_with_a_book it;
    it.enter(order_side::buy, 100, 5);
    const std::uint64_t commands = it.host.counts().commands;
    const std::uint64_t published = it.host.market().published();
    std::array<std::byte, message_bytes_of<book_request>> question;
    encode(book_request{the_market, 0, order_side::buy}, question);

    CHECK_FALSE(answer_of(it.host, question).empty());
    CHECK(answer_of(it.host, std::span{question}.first(9)).empty());

    CHECK(it.host.counts().commands == commands);
    CHECK(it.host.market().published() == published);
}

TEST_CASE("pages of a book that changes meanwhile are that book, once the feed is applied") {
    const std::uint64_t seed = std::random_device{}();
    INFO("seed ", seed);
    std::mt19937_64 dice{seed};
    venue_with_a_book it;
    const auto trade = [&](int orders) {
        for (; orders > 0; --orders) {
            const bool far = dice() % 10 == 0;
            // Nearly all of them rest, or there would be no second page.
            const auto behind = static_cast<price_ticks>(dice() % (far ? 100'000'000 : 300));
            const bool buys = dice() % 2 == 0;
            it.enter(buys ? order_side::buy : order_side::sell, buys ? 20 - behind : behind,
                     static_cast<contracts>(1 + dice() % 9));
        }
    };
    std::size_t pages = 0;
    for (int round = 0; round < 20; ++round) {
        trade(100);
        for (const order_side side : {order_side::buy, order_side::sell}) {
            levels_of_side heard;
            book_page page = it.ask(side, best_of(side));
            const std::uint64_t begin = page.next_in_feed;
            add(heard, page);
            for (; !page.last; ++pages) {
                trade(3);
                page = it.ask(side, behind(page));
                add(heard, page);
            }
            apply_feed(heard, side, it.host.feed(), begin);
            CHECK(heard == it.real(side));
        }
    }
    CHECK(pages > 0);
}
