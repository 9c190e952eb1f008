// SPDX-License-Identifier: BSL-1.0
//
// What a matching facility owes to all others while one command takes its time, and where commands go when
// there is more than one partition to carry them out.
//
// A sweep of a full book is carried out in steps. Between two of them others are read and written to, but no
// command begins. facility_laws.hpp is about everything else.
#pragma once

#include <exchange/tests/net/facility_fixture.hpp>

namespace exchange::testing {

template <class Side, class Facility>
struct long_command_law : facility_fixture<Side, Facility> {
    using base = facility_fixture<Side, Facility>;
    using X = typename base::X;
    using task = typename base::task;
    using fixture = typename base::fixture;
    using base::hold;

    static constexpr std::uint32_t resting = 300;

    static day one_fill_a_step() {
        day today;
        today.rules.sequencing.limits.step_work_max = 1;
        return today;
    }

    static void commands_wait_in_order_behind_one_that_takes_many_steps() {
        hold(
            [](fixture& it) -> task {
                trader<X> maker{it.on, it.client("alice")};
                trader<X> taker{it.on, it.client("bob")};
                co_await maker.in();
                co_await taker.in();
                for (std::uint32_t each = 1; each <= resting; ++each)
                    maker.send(limit(client_sequence{each}, order_side::sell, 100, 1));
                co_await maker.heard_at_least(resting);

                taker.send(limit(client_sequence{1}, order_side::buy, 100, resting));
                maker.send(limit(client_sequence{resting + 1}, order_side::sell, 101, 1));
                taker.send(limit(client_sequence{2}, order_side::buy, 90, 1));
                co_await maker.heard_at_least(3 * resting + 1);
                co_await taker.heard_at_least(2 * resting + 1);

                CHECK(maker.template heard_of<order_executed>().size() == resting);
                CHECK(taker.template heard_of<order_executed>().size() == resting);
                CHECK(it.open_orders(alice) == 1);
                CHECK(it.open_orders(bob) == 1);
                co_await it.probe->heard_at_least(it.public_messages());
                CHECK(it.probe->missing == 0);
                maker.client.stop();
                taker.client.stop();
                co_await maker.gone();
                co_await taker.gone();
            },
            one_fill_a_step());
    }

    static void a_command_ends_though_its_client_has_gone() {
        day today = one_fill_a_step();
        today.on_disconnect = disconnect_policy::cancel_orders;
        hold(
            [](fixture& it) -> task {
                trader<X> maker{it.on, it.client("alice")};
                trader<X> taker{it.on, it.client("bob")};
                co_await maker.in();
                co_await taker.in();
                for (std::uint32_t each = 1; each <= resting; ++each)
                    maker.send(limit(client_sequence{each}, order_side::sell, 100, 1));
                co_await maker.heard_at_least(resting);

                taker.send(limit(client_sequence{1}, order_side::buy, 100, 2 * resting));
                co_await maker.heard_at_least(resting + 20);
                taker.client.stop();
                co_await maker.heard_at_least(3 * resting);
                co_await taker.gone();
                typename X::timer timer{it.on};
                while (it.host.busy() || it.open_orders(bob) > 0)
                    static_cast<void>(
                        co_await timer.wait_until(X::now(it.on) + std::chrono::milliseconds{1}));

                CHECK(maker.template heard_of<order_executed>().size() == resting);
                CHECK(it.open_orders(alice) == 0);
                maker.client.stop();
                co_await maker.gone();
            },
            today);
    }

    static void two_partitions_trade_through_one_port() {
        day today;
        today.rules.sequencing.partitions = 2;
        hold(
            [](fixture& it) -> task {
                constexpr instrument_id other{2};
                define_instrument second{};
                second.instrument = other;
                second.product = product_id{1};
                second.type = instrument_kind::future;
                it.host.apply(second);
                it.host.apply(set_phase{other, market_phase::continuous});
                trader<X> maker{it.on, it.client("alice")};
                trader<X> taker{it.on, it.client("bob")};
                co_await maker.in();
                co_await taker.in();

                enter_order offer = limit(client_sequence{1}, order_side::sell, 100, 5);
                maker.send(offer);
                offer.client_seq = client_sequence{2};
                offer.instrument = other;
                maker.send(offer);
                co_await maker.heard_at_least(2);
                enter_order bid = limit(client_sequence{1}, order_side::buy, 100, 3);
                taker.send(bid);
                bid.client_seq = client_sequence{2};
                bid.instrument = other;
                taker.send(bid);
                co_await taker.heard_at_least(4);
                maker.send(cancel_orders{session_id::none, client_sequence{3},
                                         account_id{number(alice)}, instrument_id::none,
                                         side_filter::both});
                co_await maker.heard_at_least(2 + 4 + 2);

                const auto fills = taker.template heard_of<order_executed>();
                REQUIRE(fills.size() == 2);
                CHECK(fills[0].order != fills[1].order);
                CHECK(fills[0].trade != fills[1].trade);
                CHECK(maker.template heard_of<order_cancelled>().size() == 2);
                CHECK(it.host.sequencing().at(0).published() > numbers_of(0));
                CHECK(it.host.sequencing().at(1).published() > numbers_of(1));
                co_await it.probe->heard_at_least(it.public_messages());
                maker.client.stop();
                taker.client.stop();
                co_await maker.gone();
                co_await taker.gone();
            },
            today);
    }
};

}  // namespace exchange::testing
