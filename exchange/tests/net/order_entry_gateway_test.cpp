// SPDX-License-Identifier: BSL-1.0
//
// The laws of an order entry gateway on the coroutines of gyre, over every backend.
#include <exchange/tests/net/gateway_laws.hpp>
#include <exchange/tests/net/gyre_side.hpp>
#include <exchange/tests/net/silent_host.hpp>

#include <gyre/sync/sleep.hpp>

using namespace exchange;
using namespace exchange::testing;
using laws = gateway_law<gyre_side>;

TEST_CASE("gyre gateway: trades are told to both") { laws::trades_are_told_to_both(); }
TEST_CASE("gyre gateway: one that is started again loses nothing, and doubles nothing") {
    laws::a_gateway_that_is_started_again_loses_and_doubles_nothing();
}
TEST_CASE("gyre gateway: a facility that is started again is another life") {
    laws::a_facility_that_is_started_again_is_another_life();
}
TEST_CASE("gyre gateway: clients stay while the link is away, and miss nothing") {
    laws::clients_stay_while_the_link_is_away_and_miss_nothing();
}
TEST_CASE("gyre gateway: who leaves while its login waits for the link is not let in") {
    laws::who_leaves_while_its_login_waits_for_the_link_is_not_let_in();
}
TEST_CASE("gyre gateway: one that takes another one's place serves its clients") {
    laws::a_gateway_that_takes_another_ones_place_serves_its_clients();
}
TEST_CASE("gyre gateway: one that cannot take another one's place takes no client") {
    laws::a_gateway_that_cannot_take_another_ones_place_takes_no_client();
}
TEST_CASE("gyre gateway: one that drains does not connect again") {
    laws::a_gateway_that_drains_does_not_connect_again();
}
TEST_CASE("gyre gateway: one that drains sends those away who stay") {
    laws::a_gateway_that_drains_sends_those_away_who_stay();
}
TEST_CASE("gyre gateway: a facility that does not answer is asked again in time") {
    gyre::testing::on_every_backend([](gyre::io_context& on) -> gyre::task<> {
        const silent_host facility;
        gateway_host host{gateway_for_two(), on.now()};
        gateway_options options;
        options.facility = facility.where();
        options.clients.tcp = loopback(0);
        options.connect_within = std::chrono::milliseconds{5};
        hosted_gateway gateway{on, host, options};
        REQUIRE(gateway.start().ok());
        while (host.counts().unreached < 3)
            static_cast<void>(co_await gyre::sleep_for(std::chrono::milliseconds{1}));
        gateway.stop();
        while (!gateway.idle())
            static_cast<void>(co_await gyre::sleep_for(std::chrono::milliseconds{1}));
        CHECK(host.counts().links == 0);
    });
}
TEST_CASE("gyre gateway: two of one name leave each other time") {
    laws::two_gateways_of_one_name_leave_each_other_time();
}
TEST_CASE("gyre gateway: a client that does not read is shed, and others go on") {
    laws::a_client_that_does_not_read_is_shed_and_others_go_on();
}
TEST_CASE("gyre gateway: orders of one that dies follow their policy") {
    laws::orders_of_a_gateway_that_dies_follow_their_policy();
}
TEST_CASE("gyre gateway: a wrong password at the facility lets nobody in") {
    laws::a_wrong_password_of_a_gateway_lets_nobody_in();
}
TEST_CASE("gyre gateway: bytes that are no frames end their link, and no other") {
    laws::bytes_that_are_no_frames_end_their_link_and_no_other();
}
TEST_CASE("gyre gateway: a client that breaks the protocol ends, and no other") {
    laws::a_client_that_breaks_the_protocol_ends_and_no_other();
}
TEST_CASE("gyre gateway: a packet that is too long ends its client, and no other") {
    laws::a_packet_that_is_too_long_ends_its_client_and_no_other();
}
TEST_CASE("gyre gateway: the day ends in order") { laws::the_day_ends_in_order(); }
TEST_CASE("gyre gateway: a thousand clients trade over one link") {
    laws::a_thousand_clients_trade_over_one_link();
}

TEST_CASE("gyre tls gateway: clients trade, come again and miss nothing") {
    const speaking_tls secured;
    laws::trades_are_told_to_both();
    laws::a_gateway_that_is_started_again_loses_and_doubles_nothing();
    laws::clients_stay_while_the_link_is_away_and_miss_nothing();
    laws::a_gateway_that_takes_another_ones_place_serves_its_clients();
    laws::the_day_ends_in_order();
}
TEST_CASE("gyre tls gateway: a peer that stops in the handshake is cut, and it is told why") {
    const speaking_tls secured;
    laws::who_stops_in_the_handshake_is_cut_and_it_is_told_why();
}
