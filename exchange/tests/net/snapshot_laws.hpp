// SPDX-License-Identifier: BSL-1.0
//
// How a listener goes on that has missed what the feed keeps no more: it asks for the book, over a session
// of its own, and takes the feed from there.
//
// exchange/docs/recover.md says what a listener does then; here a listener does it.
#pragma once

#include <exchange/codec/book_codec.hpp>
#include <exchange/tests/net/facility_fixture.hpp>
#include <exchange/tests/net/raw_client.hpp>

#include <map>
#include <optional>
#include <utility>

namespace exchange::testing {

/// A side of a book by price, as pages and the feed tell it.
class told_levels {
public:
    void add(const book_page& page) {
        for (std::size_t each = 0; each < page.count; ++each)
            levels_[page.levels[each].price] = {page.levels[each].quantity,
                                                page.levels[each].orders};
    }
    void hear(const price_level_update& it) {
        if (it.orders == 0) levels_.erase(it.price);
        else levels_[it.price] = {it.quantity, it.orders};
    }
    [[nodiscard]] std::size_t size() const { return levels_.size(); }

    [[nodiscard]] friend bool operator==(const told_levels&, const told_levels&) = default;

private:
    std::map<price_ticks, std::pair<contracts_total, std::uint32_t>> levels_;
};

template <class Side, class Facility>
struct snapshot_law : facility_fixture<Side, Facility> {
    using base = facility_fixture<Side, Facility>;
    using X = typename base::X;
    using task = typename base::task;
    using fixture = typename base::fixture;
    using base::hold;
    using base::until_idle;

    static void who_has_missed_too_much_asks_for_the_book_and_goes_on() {
        day forgetful;
        forgetful.rules.feed.kept_messages_max = 32;
        hold(
            [](fixture& it) -> task {
                raw_client<X> maker{it.on};
                co_await maker.connect(it.facility->order_entry());
                maker.log_in("alice");
                co_await enter(maker, 1, orders);
                const std::uint64_t told = it.public_messages();
                co_await it.probe->heard_at_least(told);
                CHECK(it.host.feed().messages().first_sequence() > 1);  // Not kept any more.

                raw_client<X> asker{it.on};  // Whom the listener may log in as.
                co_await asker.connect(it.facility->order_entry());
                asker.log_in("bob");
                told_levels heard;
                const std::uint64_t from = co_await ask_for_all(asker, heard);
                CHECK(from == told + 1);
                CHECK(heard.size() == orders);

                // Meanwhile the feed goes on, which a listener keeps until it has the pages.
                co_await enter(maker, orders + 1, orders + 8);
                co_await it.probe->heard_at_least(it.public_messages());
                apply_feed(heard, it.probe->messages, from);

                told_levels real;
                static_cast<void>(co_await ask_for_all(asker, real));
                CHECK(heard == real);
                CHECK(heard.size() == orders + 8);
                CHECK(it.host.counts().malformed == 0);
                co_await maker.leave();
                co_await asker.leave();
                co_await until_idle(it);
            },
            forgetful);
    }

private:
    static constexpr std::uint32_t orders = 100;  // More levels than a page has.
    static_assert(orders > book_page_levels_max);

    /// The orders with these numbers, one by one, since the feed keeps little.
    static task enter(raw_client<X>& by, std::uint32_t first, std::uint32_t last) {
        for (std::uint32_t each = first; each <= last; ++each) {
            by.say(limit(client_sequence{each}, order_side::buy, each, 1));
            co_await by.write();
            co_await by.hear(1 + each);
        }
    }

    /// Page by page; yields the first page's next number in the feed.
    static typename X::template task<std::uint64_t> ask_for_all(raw_client<X>& by,
                                                                told_levels& into) {
        std::optional<book_page> page;
        std::uint64_t next_in_feed = 0;
        price_ticks from = best_of(order_side::buy);
        while (!page || !page->last) {
            std::array<std::byte, message_bytes_of<book_request>> question;
            encode(book_request{the_market, from, order_side::buy}, question);
            const std::size_t heard = by.heard.size();
            by.say(soup_type::unsequenced, question);
            co_await by.write();
            co_await by.until([&] {
                return by.heard.size() > heard && by.heard.back().type == soup_type::unsequenced;
            });
            const auto keep = [&page]<class Answer>(const Answer& told) {
                if constexpr (std::same_as<Answer, book_page>) page = told;
            };
            const decode_fault fault = decode_book_answer(by.heard.back().payload, keep);
            REQUIRE(fault == decode_fault{});
            REQUIRE(page);
            if (next_in_feed == 0) next_in_feed = page->next_in_feed;
            into.add(*page);
            if (page->count > 0) from = page->levels[page->count - 1U].price - 1;
        }
        co_return next_in_feed;
    }

    /// What was told from message `from` on, whose numbers begin at 1.
    static void apply_feed(told_levels& to, const std::vector<std::vector<std::byte>>& messages,
                           std::uint64_t from) {
        const auto hear = [&to]<class Event>(const event_stamp&, const Event& it) {
            if constexpr (std::same_as<Event, price_level_update>) to.hear(it);
        };
        for (std::size_t at = from - 1; at < messages.size(); ++at)
            CHECK_FALSE(decode_public_event(messages[at], hear));
    }
};

}  // namespace exchange::testing
