// SPDX-License-Identifier: BSL-1.0
//
// How a client goes on that was cut off for longer than its stream is kept: it asks for its orders and
// positions, and takes its stream from there.
//
// exchange/docs/recover.md says what a client does then; here a client does it while others trade.
#pragma once

#include <exchange/codec/query_codec.hpp>
#include <exchange/tests/net/facility_fixture.hpp>
#include <exchange/tests/net/raw_client.hpp>

#include <map>
#include <optional>
#include <utility>

namespace exchange::testing {

/// What a client knows of its orders and of its position in the one market, by pages and by its stream.
class recovered_account {
public:
    void add(const orders_page& page) {
        for (std::uint16_t each = 0; each < page.count; ++each)
            told_[page.rows[each].order] = {page.rows[each].open, page.next_in_stream};
    }
    void add(const positions_page& page) {
        position_from_ = page.next_in_stream;
        for (std::uint16_t each = 0; each < page.count; ++each)
            position_ += page.rows[each].position;
    }

    /// Applies a message of the stream, which a page may know already.
    void hear(std::uint64_t sequence, const order_entered& it) { set(sequence, it.order, it.open); }
    void hear(std::uint64_t sequence, const order_executed& it) {
        set(sequence, it.order, it.open);
        if (sequence < position_from_) return;
        position_ +=
            it.side == order_side::buy ? std::int64_t{it.quantity} : -std::int64_t{it.quantity};
    }
    void hear(std::uint64_t sequence, const order_cancelled& it) { set(sequence, it.order, 0); }
    void hear(std::uint64_t, const auto&) {}

    [[nodiscard]] std::map<order_id, contracts> orders() const {
        std::map<order_id, contracts> resting;
        for (const auto& [id, known] : told_)
            if (known.first > 0) resting[id] = known.first;
        return resting;
    }
    [[nodiscard]] std::int64_t position() const { return position_; }

private:
    void set(std::uint64_t sequence, order_id id, contracts open) {
        const auto known = told_.find(id);
        if (known != told_.end() && sequence < known->second.second) return;
        told_[id] = {open, sequence};
    }

    std::map<order_id, std::pair<contracts, std::uint64_t>>
        told_;  // With the message it is good from.
    std::int64_t position_ = 0;
    std::uint64_t position_from_ = 0;
};

template <class Side, class Facility>
struct recovery_law : facility_fixture<Side, Facility> {
    using base = facility_fixture<Side, Facility>;
    using X = typename base::X;
    using task = typename base::task;
    using fixture = typename base::fixture;
    using base::hold;
    using base::until_idle;

    static void who_was_cut_off_asks_for_its_orders_and_goes_on() {
        day forgetful;
        forgetful.rules.stream.messages_max = 64;
        hold(
            [](fixture& it) -> task {
                raw_client<X> lost{it.on};
                co_await lost.connect(it.facility->order_entry());
                lost.log_in("alice");
                co_await lost.write();
                co_await lost.hear(1);
                co_await enter(lost, 1, orders);
                co_await lost.leave();
                co_await until_idle(it);

                raw_client<X> bobs{it.on};
                co_await bobs.connect(it.facility->order_entry());
                bobs.log_in("bob");
                co_await bobs.write();
                co_await bobs.hear(1);
                std::uint32_t sold = 0;
                co_await sell(bobs, sold, 70);

                raw_client<X> late{it.on};
                co_await late.connect(it.facility->order_entry());
                late.log_in("alice", 2);  // Which is not kept any more.
                co_await late.write();
                co_await late.hear_the_end();
                CHECK(late.heard.back().type == soup_type::login_rejected);
                co_await late.leave();

                raw_client<X> back{it.on};
                co_await back.connect(it.facility->order_entry());
                back.log_in("alice", 0);  // From the next message on.
                co_await back.write();
                co_await back.hear(1);
                recovered_account known;
                query question{0, account_id::none, instrument_id::none, query_subject::orders};
                std::size_t pages = 0;
                for (bool last = false; !last; ++pages) {
                    orders_page page{};
                    co_await ask(back, question, page);
                    known.add(page);
                    question.from = page.next;
                    last = page.last;
                    co_await sell(bobs, sold, 3);
                    if (pages == 1) co_await enter(back, orders + 1, orders + 5);
                }
                CHECK(pages > 2);
                positions_page position{};
                question = {0, account_id::none, instrument_id::none, query_subject::positions};
                co_await ask(back, question, position);
                known.add(position);
                co_await sell(bobs, sold, 2);
                const std::uint64_t told = it.who(alice).stream().messages().next_sequence();
                co_await back.until([&] { return next_sequence(back) == told; });
                apply_stream(back, known);

                CHECK(known.orders() == really_open(it));
                CHECK(known.position() == std::int64_t{sold});
                CHECK(it.host.counts().malformed == 0);
                co_await bobs.leave();
                co_await back.leave();
                co_await until_idle(it);
            },
            forgetful);
    }

private:
    static constexpr std::uint32_t orders = 200;

    /// Buys of three at a price each, one by one.
    static task enter(raw_client<X>& by, std::uint32_t first, std::uint32_t last) {
        for (std::uint32_t each = first; each <= last; ++each) {
            const std::size_t heard = by.heard.size();
            by.say(limit(client_sequence{each}, order_side::buy, each, 3));
            co_await by.write();
            co_await by.until([&by, heard] { return by.heard.size() > heard; });
        }
    }

    /// Sells of one, which trade.
    static task sell(raw_client<X>& by, std::uint32_t& sold, std::uint32_t count) {
        for (; count > 0; --count) {
            const std::size_t heard = by.heard.size();
            by.say(limit(client_sequence{++sold}, order_side::sell, 1, 1));
            co_await by.write();
            co_await by.until([&by, heard] { return by.heard.size() > heard + 1; });
        }
    }

    template <class Page>
    static task ask(raw_client<X>& by, query question, Page& into) {
        std::array<std::byte, message_bytes_of<query>> bytes;
        encode(question, bytes);
        const auto answers = [&by] {
            return std::ranges::count(by.heard, soup_type::unsequenced, &heard_packet::type);
        };
        const auto before = answers();
        by.say(soup_type::unsequenced, bytes);
        co_await by.write();
        co_await by.until([&] { return answers() > before; });
        bool found = false;
        const auto keep = [&]<class Answer>(const Answer& told) {
            if constexpr (std::same_as<Answer, Page>) {
                into = told;
                found = true;
            }
        };
        const auto last = std::find_if(by.heard.rbegin(), by.heard.rend(), [](const auto& each) {
            return each.type == soup_type::unsequenced;
        });
        const decode_fault fault = decode_query_answer(last->payload, keep);
        REQUIRE(fault == decode_fault{});
        REQUIRE(found);
    }

    /// Of the first message, as the login was answered.
    static std::uint64_t first_sequence(const raw_client<X>& by) {
        REQUIRE(by.heard.front().type == soup_type::login_accepted);
        return parse_soup_acceptance(by.heard.front().payload).fields.sequence;
    }
    static std::uint64_t next_sequence(const raw_client<X>& by) {
        return first_sequence(by) + static_cast<std::uint64_t>(std::ranges::count(
                                        by.heard, soup_type::sequenced, &heard_packet::type));
    }
    static void apply_stream(const raw_client<X>& by, recovered_account& to) {
        std::uint64_t sequence = first_sequence(by);
        for (const heard_packet& each : by.heard) {
            if (each.type != soup_type::sequenced) continue;
            const auto hear = [&]<class... Told>(const Told&... told) {
                if constexpr (sizeof...(Told) == 2)
                    [&](const event_stamp&, const auto& it) { to.hear(sequence, it); }(told...);
            };
            CHECK_FALSE(decode_private_event(each.payload, hear));
            ++sequence;
        }
    }
    static std::map<order_id, contracts> really_open(fixture& it) {
        std::map<order_id, contracts> open;
        const venue& state = it.host.market().state();
        for (order_index at = state.accounts[number(alice)].first_order; at != 0;
             at = state.memory.orders[at].account_next)
            open[state.memory.orders[at].id] = state.memory.orders[at].open;
        return open;
    }
};

}  // namespace exchange::testing
