// SPDX-License-Identifier: BSL-1.0
//
// What clients and listeners learn when the exchange that they knew is another one, whichever library
// carries either.
//
// Here a day ends in order and another begins on the same port; tests/programs/new_life_test.cpp kills the
// exchange instead.
#pragma once

#include <exchange/tests/net/facility_fixture.hpp>

#include <optional>

namespace exchange::testing {

template <class Side, class Facility>
struct life_law : facility_fixture<Side, Facility> {
    using base = facility_fixture<Side, Facility>;
    using X = typename base::X;
    using task = typename base::task;
    using fixture = typename base::fixture;
    using base::hold;
    using base::until_idle;
    using typename base::context;

    static void whoever_was_away_learns_that_the_next_day_is_another_life() {
        Side::each_context([](context& on) {
            fixture first{on, named("LIFE1")};
            std::optional<second_life> second;
            bool ended = false;
            X::launch(on, meet(first, second, ended));
            CHECK(Side::run_to_rest(on));
            CHECK(ended);
        });
    }

    static void who_has_missed_too_much_of_its_life_is_told_that_and_not_that_it_is_over() {
        day forgetful = named("LIFE1");
        forgetful.rules.stream.messages_max = 8;
        hold(
            [](fixture& it) -> task {
                trader<X> before{it.on, it.client("alice")};
                co_await before.in();
                for (std::uint32_t each = 1; each <= 40; ++each) {
                    before.send(limit(client_sequence{each}, order_side::buy, 100, 1));
                    co_await before.heard_at_least(each);
                }
                before.client.stop();
                co_await before.gone();

                order_entry_client_options options = it.client("alice", 5);
                options.login.session = "LIFE1";
                trader<X> late{it.on, options};
                co_await late.gone();

                CHECK(late.client.machine().ending() == soup_ending::not_kept);
                CHECK(late.lives.empty());
                CHECK(late.messages.empty());
                co_await until_idle(it);
            },
            forgetful);
    }

private:
    static day named(std::string_view name) {
        day it;
        it.rules.stream.session = it.rules.feed.session = name;
        return it;
    }

    /// The market that opens where the first one was.
    struct second_life {
        explicit second_life(fixture& first)
            : host{named("LIFE2").rules, X::now(first.on)},
              facility{first.on, host, in_place_of(first)} {
            open_market(host);
            REQUIRE(facility.start().ok());
        }
        static facility_options in_place_of(fixture& first) {
            facility_options how = on_loopback();
            how.order_entry = first.facility->order_entry();
            how.feed_requests = first.facility->feed_requests();
            how.feed = first.probe->feed.local();
            return how;
        }

        order_entry_host host;
        Facility facility;
    };

    static task meet(fixture& it, std::optional<second_life>& second, bool& ended) {
        trader<X> a{it.on, it.client("alice")};
        trader<X> b{it.on, it.client("bob")};
        co_await a.in();
        co_await b.in();
        a.send(limit(client_sequence{1}, order_side::buy, 100, 5));
        co_await a.heard_at_least(1);
        b.client.stop();  // It has heard nothing yet, and is away as the day ends.
        co_await b.gone();
        it.facility->drain();
        co_await a.gone();
        co_await it.probe->until([&it] { return it.probe->over; });
        co_await until_idle(it);
        it.facility->stop();

        second.emplace(it);
        co_await it.probe->until([&it] { return it.probe->lives.size() == 1; });
        const std::uint64_t told = second->host.feed().messages().next_sequence() - 1;
        co_await it.probe->heard_at_least(told);
        CHECK(it.probe->lives.front() == "LIFE2");
        CHECK(it.probe->sequences.front() == 1);

        co_await begin_again(it, a, b);
        second->facility.stop();
        it.probe->feed.stop();
        ended = true;
    }

    /// Bob joins the new life, and Alice leaves with the old one, to whom both come as applications do that
    /// were started again.
    static task begin_again(fixture& it, const trader<X>& a, const trader<X>& b) {
        order_entry_client_options options = it.client("bob");
        options.login = b.client.machine().resume();
        trader<X> joins{it.on, options};
        joins.at_new_life = next_life::join;
        options.login = a.client.machine().resume();
        trader<X> leaves{it.on, options};

        co_await leaves.gone();
        CHECK(leaves.client.machine().ending() == soup_ending::life_ended);
        CHECK(leaves.lives == std::vector<soup_session>{"LIFE2"});
        CHECK(leaves.messages.empty());

        co_await joins.in();
        CHECK(joins.lives == std::vector<soup_session>{"LIFE2"});
        CHECK(joins.client.machine().resume().session == "LIFE2");
        joins.send(limit(client_sequence{1}, order_side::sell, 100, 2));
        co_await joins.heard_at_least(1);
        CHECK(joins.template heard_of<order_entered>().size() ==
              1);  // Nobody is there to trade with.
        CHECK(joins.next_sequence == 2);
        joins.client.stop();
        co_await joins.gone();
    }
};

}  // namespace exchange::testing
