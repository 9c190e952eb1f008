// SPDX-License-Identifier: BSL-1.0
//
// How many writes and datagrams a message costs: the same numbers for every facility. And who writes.
//
// A client says one thing at a time and hears everything that follows from it before it goes on, so nothing
// is left to chance. Writes are counted where they arrive; how many system calls a facility makes of
// them is its own affair (exchange/docs/measure.md has a table).
#pragma once

#include <exchange/tests/net/data_segments.hpp>
#include <exchange/tests/net/datagram_meter.hpp>
#include <exchange/tests/net/facility_fixture.hpp>
#include <exchange/tests/net/law.hpp>
#include <exchange/tests/net/other_end.hpp>
#include <exchange/tests/net/raw_client.hpp>

#include <chrono>
#include <cstdint>
#include <utility>

namespace exchange::testing {

template <class Side, class Facility>
struct write_law : facility_fixture<Side, Facility> {
    using base = facility_fixture<Side, Facility>;
    using X = typename base::X;
    using task = typename base::task;
    using fixture = typename base::fixture;
    using base::hold;

    static void each_message_costs_as_many_writes_as_anywhere() {
        datagram_meter hears_the_feed;
        hold(
            [&hears_the_feed](fixture& it) -> task {
                trading_pair in{it, hears_the_feed};
                co_await in.open();

                for (int each = 0; each < rounds; ++each) {
                    in.order();
                    co_await in.settle(1, 0, 1);
                }
                in.check_writes({rounds, 0, rounds});

                for (int each = 0; each < rounds; ++each) {
                    in.trade();
                    co_await in.settle(2, 2, 1);
                }
                in.check_writes({rounds, rounds, rounds});

                in.cancel_all();
                co_await in.settle(rounds, 0, datagrams_of_cancels);
                in.check_writes({1, 0, datagrams_of_cancels});

                for (int each = 0; each < rounds; ++each) {
                    for (int more = 0; more < batch; ++more) in.order();
                    co_await in.settle(batch, 0, datagrams_of_batch);
                }
                in.check_writes({rounds, 0, rounds * datagrams_of_batch});
                co_await in.close();
            },
            without_heartbeats(hears_the_feed.local()));
    }

    static void a_client_that_is_told_without_end_is_heard() {
        hold([](fixture& it) -> task {
            raw_client<X> a{it.on};
            co_await a.connect(it.facility->order_entry());
            a.log_in("alice");
            co_await a.write();
            co_await a.hear(1);
            enter_order others = limit(client_sequence{1}, order_side::buy, 100, 1);
            others.session = alice;
            it.host.apply(others);
            it.host.announce();
            co_await a.hear(2);
            const std::uint64_t sent = it.facility->feed().datagrams;
            a.say(limit(client_sequence{2}, order_side::buy, 100, 1));
            co_await a.write();
            a.say(limit(client_sequence{3}, order_side::buy, 100, 1));
            bool said = false;
            co_await law<Side>::in_each_turn(it.on, [&] {
                if (it.facility->feed().datagrams == sent) return true;  // Then she is written to.
                it.host.apply(others);  // She is told that there was such an order.
                it.host.announce();
                if (it.open_orders(alice) == 2 && !std::exchange(said, true))
                    X::launch(it.on, a.write());
                return it.open_orders(alice) < 3;
            });
            CHECK(it.open_orders(alice) == 3);
            co_await a.leave();
            co_await base::until_idle(it);
        });
    }

private:
    static constexpr int rounds = 20;
    static constexpr int batch = 50;
    static constexpr int datagrams_of_opening = 1;  // What the market was told before it began.
    static constexpr int datagrams_of_cancels = 4;
    static constexpr int datagrams_of_batch = 8;

    struct write_counts {
        std::uint64_t to_alice = 0;
        std::uint64_t to_bob = 0;
        std::uint64_t to_the_public = 0;
    };

    [[nodiscard]] static day without_heartbeats(const gyre::endpoint& feed) {
        day it;
        it.feed = feed;
        it.rules.feed.heartbeat_after = std::chrono::hours{1};
        it.how.sessions.heartbeat_after = std::chrono::hours{1};
        it.how.sessions.dead_after = std::chrono::hours{2};
        return it;
    }

    /// Alice, who trades, and Bob, who has sold her all that she may want.
    class trading_pair {
    public:
        trading_pair(fixture& on, datagram_meter& hears_the_feed)
            : on_{on}, hears_the_feed_{hears_the_feed}, alice_{on.on}, bob_{on.on} {}

        task open() {
            co_await log_in(alice_, "alice");
            co_await log_in(bob_, "bob");
            bob_.say(limit(client_sequence{1}, order_side::sell, 1'000, 1'000));
            co_await settle(0, 1, datagrams_of_opening + 1);
            note_writes();
        }
        void order() { alice_.say(limit(client_sequence{++said_}, order_side::buy, 100, 5)); }
        void trade() { alice_.say(limit(client_sequence{++said_}, order_side::buy, 1'000, 1)); }
        void cancel_all() {
            alice_.say(cancel_orders{session_id::none, client_sequence{++said_}, account_id{1},
                                     instrument_id::none, side_filter::both});
        }

        /// Sends what was said, and waits for so many packets and datagrams more.
        task settle(std::size_t for_alice, std::size_t for_bob, std::uint64_t for_the_public) {
            heard_by_alice_ += for_alice;
            heard_by_bob_ += for_bob;
            heard_by_the_public_ += for_the_public;
            co_await bob_.write();
            co_await alice_.write();
            co_await alice_.hear(heard_by_alice_);
            co_await bob_.hear(heard_by_bob_);
            typename X::timer timer{on_.on};
            while (hears_the_feed_.count() < heard_by_the_public_)
                static_cast<void>(co_await timer.wait_until(X::now(on_.on)));
            CHECK(alice_.heard.size() == heard_by_alice_);
            CHECK(bob_.heard.size() == heard_by_bob_);
        }

        /// Since the last call.
        void check_writes(const write_counts& wanted) {
            const write_counts before = counted_;
            note_writes();
            CHECK(counted_.to_alice - before.to_alice == wanted.to_alice);
            CHECK(counted_.to_bob - before.to_bob == wanted.to_bob);
            CHECK(counted_.to_the_public - before.to_the_public == wanted.to_the_public);
        }

        task close() {
            co_await alice_.leave();
            co_await bob_.leave();
        }

    private:
        void note_writes() {
            counted_ = {data_segments_sent(other_end_of(alice_.native_handle())),
                        data_segments_sent(other_end_of(bob_.native_handle())),
                        hears_the_feed_.count()};
        }
        task log_in(raw_client<X>& who, std::string_view name) {
            co_await who.connect(on_.facility->order_entry());
            who.log_in(name);
            co_await who.write();
            co_await who.hear(1);
        }

        fixture& on_;
        datagram_meter& hears_the_feed_;
        raw_client<X> alice_;
        raw_client<X> bob_;
        write_counts counted_;
        std::uint32_t said_ = 0;
        std::size_t heard_by_alice_ = 1;
        std::size_t heard_by_bob_ = 1;
        std::uint64_t heard_by_the_public_ = hears_the_feed_.count();
    };
};

}  // namespace exchange::testing
