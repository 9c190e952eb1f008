// SPDX-License-Identifier: BSL-1.0
//
// What a matching facility owes to those who come when its day has ended, whichever library carries it.
//
// A client may lose its connection just when the end is told, and a network need not say so in time: what
// it is owed then must not depend on when it came. facility_laws.hpp is about the day itself.
#pragma once

#include <exchange/tests/net/facility_fixture.hpp>
#include <exchange/tests/net/raw_client.hpp>

#include <sys/socket.h>
#include <unistd.h>

namespace exchange::testing {

template <class Side, class Facility>
struct end_of_day_law : facility_fixture<Side, Facility> {
    using base = facility_fixture<Side, Facility>;
    using X = typename base::X;
    using task = typename base::task;
    using fixture = typename base::fixture;
    using base::hold;
    using base::until_idle;

    static void who_comes_after_the_end_of_the_day_hears_the_rest_and_the_end() {
        hold([](fixture& it) -> task {
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
            [](fixture& it) -> task {
                it.facility->drain();
                const std::uint64_t commands = it.host.counts().commands;

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

                CHECK(it.host.counts().commands == commands);
                CHECK(it.open_orders(alice) == 0);
                CHECK(a.heard.size() == 2);
                if (!a.heard.empty()) CHECK(a.heard.back().type == soup_type::end_of_session);
                CHECK(stranger.last_words() == describe(soup_ending::login_timed_out));
                co_await a.leave();
                co_await stranger.leave();
            },
            {.how = strict});
    }

    /// Requests and what makes it stop come in one turn of the loop, in every order; or it stops a few turns
    /// later, between any two steps of an answer.
    static void a_request_that_comes_as_it_stops_does_no_harm() {
        for (std::size_t before = 0; before <= requests_at_the_end; ++before)
            for (std::size_t turns = 0; turns < 8; ++turns)
                hold(stop_between_requests{before, turns});
    }

private:
    static constexpr std::size_t requests_at_the_end = 4;

    struct stop_between_requests {
        std::size_t before = 0;
        std::size_t turns = 0;

        task operator()(fixture& it) const {
            trader<X> a{it.on, it.client("alice")};
            co_await a.in();
            a.send(limit(client_sequence{1}, order_side::buy, 100, 5));
            co_await it.probe->heard_at_least(it.public_messages());
            a.client.stop();
            co_await a.gone();

            auto [error, bell] = X::bind(it.on, loopback(0), {});
            REQUIRE_FALSE(error);
            typename X::event stopped;
            X::launch(it.on, stop_at(bell, it, turns, stopped));
            const auto request = format_mold_header({"FEED", 1, 1});
            const int sender = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
            for (std::size_t each = 0; each <= requests_at_the_end; ++each)
                send_at_once(
                    sender, request,
                    each == before ? bell.local_endpoint().value() : it.facility->feed_requests());
            ::close(sender);
            static_cast<void>(co_await stopped.wait());
        }
    };

    /// Without a turn of the loop.
    static void send_at_once(int sender, std::span<const std::byte> datagram,
                             const gyre::endpoint& to) {
        const auto* const raw = reinterpret_cast<const sockaddr*>(to.raw().data);
        const auto sent = ::sendto(sender, datagram.data(), datagram.size(), 0, raw, to.raw().size);
        CHECK(sent == static_cast<ssize_t>(datagram.size()));
    }

    static task stop_at(typename X::udp_socket& bell, fixture& it, std::size_t turns,
                        typename X::event& stopped) {
        std::array<std::byte, 64> space;
        const auto [error, received] = co_await bell.receive(space);
        CHECK_FALSE(error);
        stop_after(turns, it, stopped);
    }

    static void stop_after(std::size_t turns, fixture& it, typename X::event& stopped) {
        if (turns > 0)
            return it.on.post([turns, &it, &stopped] { stop_after(turns - 1, it, stopped); });
        it.facility->stop();
        stopped.set();
    }
};

}  // namespace exchange::testing
