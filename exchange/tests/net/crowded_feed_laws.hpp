// SPDX-License-Identifier: BSL-1.0
//
// What becomes of a feed that keeps little while much is caused: nothing is pushed out before it was sent,
// if one command alone does not do so, and then it is counted.
//
// Whatever was sent a listener may ask for again; what was not sent is never heard.
#pragma once

#include <exchange/tests/net/facility_fixture.hpp>
#include <exchange/tests/net/raw_client.hpp>

namespace exchange::testing {

template <class Side, class Facility>
struct crowded_feed_law : facility_fixture<Side, Facility> {
    using base = facility_fixture<Side, Facility>;
    using X = typename base::X;
    using task = typename base::task;
    using fixture = typename base::fixture;
    using base::hold;
    using base::until_idle;

    static void a_turn_ends_before_it_pushes_out_what_was_not_sent() {
        hold(
            [](fixture& it) -> task {
                raw_client<X> a{it.on};
                co_await a.connect(it.facility->order_entry());
                a.log_in("alice");
                std::uint32_t sequence = 0;
                for (std::uint32_t round = 0; round < rounds; ++round) {
                    for (std::uint32_t each = 0; each < at_once; ++each)
                        a.say(limit(client_sequence{++sequence}, order_side::buy, 100 + each, 1));
                    a.say(everything_of(alice, client_sequence{++sequence}));
                }
                co_await a.write();  // As one piece, so that a turn may take all of it.
                co_await a.hear(1 + 2 * rounds * at_once);
                co_await it.probe->heard_at_least(it.public_messages());

                CHECK(it.host.feed().unsent_lost() == 0);
                CHECK(it.probe->missing == 0);
                CHECK(it.open_orders(alice) == 0);
                co_await a.leave();
                co_await until_idle(it);
            },
            keeping(128));
    }

    static void what_one_command_pushes_out_unsent_is_counted() {
        hold(
            [](fixture& it) -> task {
                raw_client<X> a{it.on};
                co_await a.connect(it.facility->order_entry());
                a.log_in("alice");
                for (std::uint32_t each = 1; each <= at_once; ++each) {
                    // The best first, so that each cancel changes the top of the book.
                    a.say(limit(client_sequence{each}, order_side::buy, 200 - each, 1));
                    co_await a.write();
                    co_await a.hear(1 + each);
                }
                const std::uint64_t before = it.public_messages();
                CHECK(it.host.feed().unsent_lost() == 0);
                a.say(everything_of(alice, client_sequence{1'000}));
                co_await a.write();
                co_await a.hear(1 + 2 * at_once);

                const std::uint64_t told = it.public_messages() - before;
                CHECK(told == 3 * at_once);
                const std::uint64_t lost = it.host.feed().unsent_lost();
                CHECK(lost > told / 4);
                CHECK(lost < told);
                CHECK(it.host.feed().messages().first_sequence() == 1 + before + lost);
                co_await a.leave();
                co_await until_idle(it);
            },
            with_room_for_little());
    }

private:
    static constexpr std::uint32_t rounds = 5;
    static constexpr std::uint32_t at_once = 20;

    static day keeping(std::size_t messages) {
        day today;
        today.rules.feed.kept_messages_max = messages;
        // What is not sent goes only where there is no memory for it.
        today.rules.feed.segment_bytes = 4096;
        today.rules.feed.unsent_bytes_max = 4 * today.rules.feed.segment_bytes;
        return today;
    }
    /// Of what one mass cancel tells, about half.
    static day with_room_for_little() {
        day today;
        today.rules.feed.segment_bytes = 1024;
        today.rules.feed.unsent_bytes_max = 2 * today.rules.feed.segment_bytes;
        return today;
    }
    static cancel_orders everything_of(session_id whose, client_sequence client_seq) {
        return {session_id::none, client_seq, account_id{number(whose)}, instrument_id::none,
                side_filter::both};
    }
};

}  // namespace exchange::testing
