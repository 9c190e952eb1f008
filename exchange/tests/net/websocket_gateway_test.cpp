// SPDX-License-Identifier: BSL-1.0
//
// The laws of an order entry gateway on gyre, with clients that speak WebSocket, binary and as JSON.
// What concerns the link alone is judged where clients speak SoupBinTCP.
#include <exchange/tests/net/gateway_laws.hpp>
#include <exchange/tests/net/gyre_side.hpp>
#include <exchange/tests/net/websocket_side.hpp>

using namespace exchange;
using namespace exchange::testing;
using laws = gateway_law<websocket_side<gyre_side>, hosted_websocket_gateway>;

TEST_CASE("gyre websocket gateway: trades are told to both") { laws::trades_are_told_to_both(); }
TEST_CASE("gyre websocket gateway: one that is started again loses nothing, and doubles nothing") {
    laws::a_gateway_that_is_started_again_loses_and_doubles_nothing();
}
TEST_CASE("gyre websocket gateway: a facility that is started again is another life") {
    laws::a_facility_that_is_started_again_is_another_life();
}
TEST_CASE("gyre websocket gateway: clients stay while the link is away, and miss nothing") {
    laws::clients_stay_while_the_link_is_away_and_miss_nothing();
}
TEST_CASE("gyre websocket gateway: a client that does not read is shed, and others go on") {
    laws::a_client_that_does_not_read_is_shed_and_others_go_on();
}
TEST_CASE("gyre websocket gateway: orders of one that dies follow their policy") {
    laws::orders_of_a_gateway_that_dies_follow_their_policy();
}
TEST_CASE("gyre websocket gateway: a wrong password at the facility lets nobody in") {
    laws::a_wrong_password_of_a_gateway_lets_nobody_in();
}
TEST_CASE("gyre websocket gateway: a client that breaks the protocol ends, and no other") {
    laws::a_client_that_breaks_the_protocol_ends_and_no_other();
}
TEST_CASE("gyre websocket gateway: a packet that is too long ends its client, and no other") {
    laws::a_packet_that_is_too_long_ends_its_client_and_no_other();
}
TEST_CASE("gyre websocket gateway: the day ends in order") { laws::the_day_ends_in_order(); }
TEST_CASE("gyre json gateway: trades are told to both") {
    const speaking_json format;
    laws::trades_are_told_to_both();
}
TEST_CASE("gyre json gateway: one that is started again loses nothing, and doubles nothing") {
    const speaking_json format;
    laws::a_gateway_that_is_started_again_loses_and_doubles_nothing();
}
TEST_CASE("gyre json gateway: a facility that is started again is another life") {
    const speaking_json format;
    laws::a_facility_that_is_started_again_is_another_life();
}
TEST_CASE("gyre json gateway: clients stay while the link is away, and miss nothing") {
    const speaking_json format;
    laws::clients_stay_while_the_link_is_away_and_miss_nothing();
}
TEST_CASE("gyre json gateway: a client that does not read is shed, and others go on") {
    const speaking_json format;
    laws::a_client_that_does_not_read_is_shed_and_others_go_on();
}
TEST_CASE("gyre json gateway: orders of one that dies follow their policy") {
    const speaking_json format;
    laws::orders_of_a_gateway_that_dies_follow_their_policy();
}
TEST_CASE("gyre json gateway: a wrong password at the facility lets nobody in") {
    const speaking_json format;
    laws::a_wrong_password_of_a_gateway_lets_nobody_in();
}
TEST_CASE("gyre json gateway: a client that breaks the protocol ends, and no other") {
    const speaking_json format;
    laws::a_client_that_breaks_the_protocol_ends_and_no_other();
}
TEST_CASE("gyre json gateway: the day ends in order") {
    const speaking_json format;
    laws::the_day_ends_in_order();
}

TEST_CASE("gyre tls websocket gateway: clients trade, come again and miss nothing") {
    const speaking_tls secured;
    laws::trades_are_told_to_both();
    laws::a_gateway_that_is_started_again_loses_and_doubles_nothing();
    laws::the_day_ends_in_order();
    const speaking_json format;
    laws::trades_are_told_to_both();
}
TEST_CASE(
    "gyre tls websocket gateway: a peer that stops in the handshake is cut, and it is told why") {
    const speaking_tls secured;
    laws::who_stops_in_the_handshake_is_cut_and_it_is_told_why();
}
