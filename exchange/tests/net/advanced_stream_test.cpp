// SPDX-License-Identifier: BSL-1.0
//
// Advanced orders over the wire: what both traders and the public are told of one of each kind, byte for
// byte.
//
// The golden streams of the scenarios have none of these; they change if plain messages do, this one if
// those of advanced orders do.
#include <exchange/tests/net/golden_law.hpp>
#include <exchange/tests/net/socketless_client.hpp>
#include <exchange/tests/net/venue_with_two_traders.hpp>
#include <exchange/tests/support/trading_fixture.hpp>

#include <doctest/doctest.h>

#include <cstdint>

using namespace exchange;
using namespace exchange::testing;
using enum exchange::order_side;

namespace {

constexpr std::uint64_t golden = 0xb7c2'75e6'5d9d'9c10;

struct two_at_a_time {
    explicit two_at_a_time(std::uint32_t step_work) : host{options(step_work), day_start} {
        open_market(host);
        alices.connect();
        bobs.connect();
        while (host.feed().next(day_start)) {
        }  // The preparation.
    }
    static order_entry_host_options options(std::uint32_t step_work) {
        order_entry_host_options made = two_traders();
        made.sequencing.limits.step_work_max = step_work;
        return made;
    }

    [[nodiscard]] enter_order order(socketless_client& of, order_side side, price_ticks price,
                                    contracts quantity) {
        return limit(next(of), side, price, quantity);
    }
    [[nodiscard]] client_sequence next(socketless_client& of) {
        return client_sequence{++(&of == &alices ? alice_sent : bob_sent)};
    }

    void play() {
        alices.tell(stop(order(alices, buy, 106, 5), 105));
        alices.tell(iceberg(order(alices, sell, 100, 10), 4));
        enter_advanced_order dated = advanced(order(alices, buy, 90, 5));
        dated.tif = time_in_force::good_till_date;
        dated.expiry_yyyymmdd = 20'991'231;
        alices.tell(dated);
        bobs.tell(order(bobs, buy, 100, 6));
        enter_advanced_order large = advanced(order(bobs, buy, 100, 9));
        large.minimum_quantity = 5;
        bobs.tell(large);
        alices.tell(
            amend_stop{alice, next(alices), {order_id::none, client_sequence{1}}, 104, 106, 6});
        bobs.tell(order(bobs, sell, 104, 3));
        alices.tell(cancel_of(next(alices), client_sequence{2}));
        alices.tell(order(alices, buy, 104, 1));
        cancel_orders all{};
        all.client_seq = next(alices);
        all.account = account_id{1};
        alices.tell(all);
    }

    [[nodiscard]] std::uint64_t hash() {
        stream_hash made;
        for (const socketless_client* each : {&alices, &bobs}) {
            for (const heard_message& message : each->heard()) {
                made.add(static_cast<std::uint16_t>(message.bytes.size()));
                made.add(message.bytes);
            }
        }
        while (const auto datagram = host.feed().next(day_start)) made.add(datagram->messages);
        return made.value();
    }

    order_entry_host host;
    socketless_client alices{host, login_of("alice")};
    socketless_client bobs{host, login_of("bob")};
    std::uint64_t alice_sent = 0;
    std::uint64_t bob_sent = 0;
};

}  // namespace

TEST_CASE("of each kind of advanced order its session hears what became of it") {
    two_at_a_time it{1};
    it.play();

    const auto terms = it.alices.heard_of<order_terms>();
    REQUIRE(terms.size() == 3);
    CHECK(terms[0].trigger_price == 105);
    CHECK(terms[1].display_quantity == 4);
    CHECK(terms[2].expiry_yyyymmdd == 20'991'231);
    CHECK(it.alices.heard_of<stop_entered>().size() == 1);
    REQUIRE(it.alices.heard_of<trigger_amended>().size() == 1);
    CHECK(it.alices.heard_of<trigger_amended>()[0].trigger_price == 104);
    REQUIRE(it.alices.heard_of<stop_triggered>().size() == 1);
    CHECK(it.alices.heard_of<stop_triggered>()[0].open == 6);
    const auto gone = it.bobs.heard_of<order_cancelled>();
    REQUIRE(gone.size() == 1);
    CHECK(gone[0].reason == cancel_reason::minimum_quantity);
    CHECK(it.bobs.heard_of<stop_triggered>().empty());
    CHECK(it.host.market().state().memory.orders.in_use() == 0);
}

TEST_CASE("the bytes of advanced orders are the same everywhere, and however small the steps are") {
    for (const std::uint32_t step_work : {1u, 7u, partition_limits{}.step_work_max}) {
        CAPTURE(step_work);
        two_at_a_time it{step_work};
        it.play();
        CHECK(it.hash() == golden);
    }
}
