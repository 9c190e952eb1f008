// SPDX-License-Identifier: BSL-1.0
//
// What a matching facility owes to those who come when its day has ended, whichever library carries it.
//
// A client may lose its connection just when the end is told, and a network need not say so in time: what
// it is owed then must not depend on when it came. facility_laws.hpp is about the day itself.
#pragma once

#include <exchange/tests/net/facility_floor.hpp>
#include <exchange/tests/net/raw_client.hpp>

namespace exchange::testing {

template <class World, class Facility>
struct end_of_day_law : facility_floor<World, Facility> {
    using stage = facility_floor<World, Facility>;
    using X = typename stage::X;
    using task = typename stage::task;
    using floor = typename stage::floor;
    using stage::hold;
    using stage::until_idle;

    static void who_comes_after_the_end_of_the_day_hears_the_rest_and_the_end() {
        hold([](floor& it) -> task {
            trader<X> before{it.on, it.client("alice")};
            trader<X> b{it.on, it.client("bob")};
            co_await before.in();
            co_await b.in();
            before.send(limit(client_sequence{1}, order_side::buy, 100, 5));
            co_await before.heard_at_least(1);
            before.client.stop();
            co_await before.gone();
            b.send(limit(client_sequence{1}, order_side::sell, 100, 2));
            co_await b.heard_at_least(2);
            it.facility->drain();
            co_await b.gone();
            co_await until_idle(it);

            trader<X> resumed{it.on, it.client("alice", 2)};
            resumed.next_sequence = 2;
            co_await resumed.gone();
            CHECK(resumed.client.machine().ending() == soup_ending::session_ended);
            CHECK(resumed.template heard_of<order_executed>().size() == 1);
            CHECK(resumed.messages.size() == 2);
            trader<X> anew{it.on, it.client("alice")};
            co_await anew.gone();
            CHECK(anew.client.machine().ending() == soup_ending::session_ended);
            CHECK(anew.messages.size() == 3);
            trader<X> nothing_left{it.on, it.client("bob", 3)};
            co_await nothing_left.gone();
            CHECK(nothing_left.client.machine().ending() == soup_ending::session_ended);
            CHECK(nothing_left.messages.empty());
            co_await until_idle(it);
        });
    }

    static void nothing_changes_after_the_end_of_the_day_and_strangers_are_sent_away() {
        facility_options strict = on_loopback();
        strict.sessions.login_within = std::chrono::milliseconds{100};
        strict.linger = std::chrono::milliseconds{100};
        hold(
            [](floor& it) -> task {
                it.facility->drain();
                const std::uint64_t commands = it.service.counts().commands;

                raw_client<X> a{it.on};
                co_await a.connect(it.facility->order_entry());
                a.log_in("alice");
                a.say(limit(client_sequence{1}, order_side::buy, 100, 5));
                co_await a.write();
                co_await a.hear_the_end();
                raw_client<X> stranger{it.on};
                co_await stranger.connect(it.facility->order_entry());
                co_await stranger.hear_the_end();
                co_await until_idle(it);  // Although neither closes.

                CHECK(it.service.counts().commands == commands);
                CHECK(it.open_orders(alice) == 0);
                CHECK(a.heard.size() == 2);
                if (!a.heard.empty()) CHECK(a.heard.back().type == soup_type::end_of_session);
                CHECK(stranger.last_words() == describe(soup_ending::login_timed_out));
                co_await a.leave();
                co_await stranger.leave();
            },
            {.how = strict});
    }
};

}  // namespace exchange::testing
