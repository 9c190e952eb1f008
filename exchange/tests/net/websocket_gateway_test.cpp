// SPDX-License-Identifier: BSL-1.0
//
// The laws of an order entry gateway on gyre, with clients that speak WebSocket, binary and as JSON.
// What concerns the link alone is judged where clients speak SoupBinTCP.
#include <exchange/tests/net/gateway_laws.hpp>
#include <exchange/tests/net/gyre_side.hpp>
#include <exchange/tests/net/websocket_side.hpp>

using namespace exchange;
using namespace exchange::testing;

namespace {

template <session_format Format>
using law_of = gateway_law<websocket_side<gyre_side, Format>,
                           websocket_gateway<over_websocket<gyre_traits, Format>>>;
using of_binary = law_of<session_format::sbe>;
using of_texts = law_of<session_format::json>;

}  // namespace

TEST_CASE("gyre websocket gateway: trades are told to both") {
    of_binary::trades_are_told_to_both();
}
TEST_CASE("gyre websocket gateway: one that is started again loses nothing, and doubles nothing") {
    of_binary::a_gateway_that_is_started_again_loses_and_doubles_nothing();
}
TEST_CASE("gyre websocket gateway: a facility that is started again is another life") {
    of_binary::a_facility_that_is_started_again_is_another_life();
}
TEST_CASE("gyre websocket gateway: clients stay while the link is away, and miss nothing") {
    of_binary::clients_stay_while_the_link_is_away_and_miss_nothing();
}
TEST_CASE("gyre websocket gateway: a client that does not read is shed, and others go on") {
    of_binary::a_client_that_does_not_read_is_shed_and_others_go_on();
}
TEST_CASE("gyre websocket gateway: orders of one that dies follow their policy") {
    of_binary::orders_of_a_gateway_that_dies_follow_their_policy();
}
TEST_CASE("gyre websocket gateway: a wrong password at the facility lets nobody in") {
    of_binary::a_wrong_password_of_a_gateway_lets_nobody_in();
}
TEST_CASE("gyre websocket gateway: a client that breaks the protocol ends, and no other") {
    of_binary::a_client_that_breaks_the_protocol_ends_and_no_other();
}
TEST_CASE("gyre websocket gateway: a packet that is too long ends its client, and no other") {
    of_binary::a_packet_that_is_too_long_ends_its_client_and_no_other();
}
TEST_CASE("gyre websocket gateway: the day ends in order") { of_binary::the_day_ends_in_order(); }
TEST_CASE("gyre json gateway: trades are told to both") { of_texts::trades_are_told_to_both(); }
TEST_CASE("gyre json gateway: one that is started again loses nothing, and doubles nothing") {
    of_texts::a_gateway_that_is_started_again_loses_and_doubles_nothing();
}
TEST_CASE("gyre json gateway: a facility that is started again is another life") {
    of_texts::a_facility_that_is_started_again_is_another_life();
}
TEST_CASE("gyre json gateway: clients stay while the link is away, and miss nothing") {
    of_texts::clients_stay_while_the_link_is_away_and_miss_nothing();
}
TEST_CASE("gyre json gateway: a client that does not read is shed, and others go on") {
    of_texts::a_client_that_does_not_read_is_shed_and_others_go_on();
}
TEST_CASE("gyre json gateway: orders of one that dies follow their policy") {
    of_texts::orders_of_a_gateway_that_dies_follow_their_policy();
}
TEST_CASE("gyre json gateway: a wrong password at the facility lets nobody in") {
    of_texts::a_wrong_password_of_a_gateway_lets_nobody_in();
}
TEST_CASE("gyre json gateway: a client that breaks the protocol ends, and no other") {
    of_texts::a_client_that_breaks_the_protocol_ends_and_no_other();
}
TEST_CASE("gyre json gateway: the day ends in order") { of_texts::the_day_ends_in_order(); }
