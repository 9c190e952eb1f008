// SPDX-License-Identifier: BSL-1.0
//
// The laws of frame transports on gyre: WebSockets, of both formats.
#include <exchange/net/transport/websocket_packets.hpp>

#include <exchange/tests/net/gyre_side.hpp>
#include <exchange/tests/net/transport_laws.hpp>
#include <exchange/tests/net/websocket_laws.hpp>

using namespace exchange;
using namespace exchange::testing;
using packets = websocket_packets<gyre_traits>;
using laws = transport_law<gyre_side, packets>;
using servers = websocket_law<gyre_side, packets>;

TEST_CASE("gyre websocket transport: packets come out whole and in order, wherever bytes are cut") {
    laws::packets_come_out_whole_and_in_order_wherever_bytes_are_cut();
}
TEST_CASE("gyre websocket transport: a batch of many parts comes out packet by packet") {
    laws::a_batch_of_many_parts_comes_out_packet_by_packet();
}
TEST_CASE("gyre websocket transport: a peer that reads late misses nothing") {
    laws::a_peer_that_reads_late_misses_nothing();
}
TEST_CASE("gyre websocket transport: a peer that is told the end has heard all before it") {
    laws::who_is_told_the_end_has_heard_all_before_it();
}
TEST_CASE("gyre websocket transport: cutting ends both waits") { laws::cutting_ends_both_waits(); }
TEST_CASE("gyre websocket transport: one object serves one connection after the other") {
    laws::one_object_serves_one_connection_after_the_other();
}
TEST_CASE("gyre websocket transport: bytes that nobody sends end the connection") {
    laws::bytes_that_nobody_sends_end_the_connection();
}
TEST_CASE("gyre json transport: packets come out whole and in order, wherever bytes are cut") {
    const speaking_json format;
    laws::packets_come_out_whole_and_in_order_wherever_bytes_are_cut();
}
TEST_CASE("gyre json transport: a batch of many parts comes out packet by packet") {
    const speaking_json format;
    laws::a_batch_of_many_parts_comes_out_packet_by_packet();
}
TEST_CASE("gyre json transport: a peer that reads late misses nothing") {
    const speaking_json format;
    laws::a_peer_that_reads_late_misses_nothing();
}
TEST_CASE("gyre json transport: a peer that is told the end has heard all before it") {
    const speaking_json format;
    laws::who_is_told_the_end_has_heard_all_before_it();
}
TEST_CASE("gyre json transport: cutting ends both waits") {
    const speaking_json format;
    laws::cutting_ends_both_waits();
}
TEST_CASE("gyre json transport: one object serves one connection after the other") {
    const speaking_json format;
    laws::one_object_serves_one_connection_after_the_other();
}
TEST_CASE("gyre json transport: bytes that nobody sends end the connection") {
    const speaking_json format;
    laws::bytes_that_nobody_sends_end_the_connection();
}
TEST_CASE("gyre websocket transport: each format is agreed on by its name") {
    servers::each_format_is_agreed_on_by_its_name();
}
TEST_CASE("gyre websocket transport: a client that asks for something else is refused by HTTP") {
    servers::who_asks_for_something_else_is_refused_by_http();
}
TEST_CASE("gyre websocket transport: a flood of pings is survived, and the last one is answered") {
    servers::a_flood_of_pings_is_survived_and_the_last_one_is_answered();
}
TEST_CASE("gyre websocket transport: a client that closes is answered with its number") {
    servers::a_client_that_closes_is_answered_with_its_number();
}
TEST_CASE("gyre websocket transport: a server closes with the reason and waits for the answer") {
    servers::a_server_closes_with_the_reason_and_waits_for_the_answer();
}
TEST_CASE("gyre websocket transport: a peer that never answers a close is cut off") {
    servers::a_peer_that_never_answers_a_close_is_cut_off_by_who_waits();
}
TEST_CASE("gyre websocket transport: frames that must not be end the session") {
    servers::frames_that_must_not_be_end_the_session();
}

TEST_CASE("gyre websocket transport: all of that holds where it is secured") {
    const speaking_tls secured;
    laws::packets_come_out_whole_and_in_order_wherever_bytes_are_cut();
    laws::a_batch_of_many_parts_comes_out_packet_by_packet();
    laws::a_peer_that_reads_late_misses_nothing();
    laws::who_is_told_the_end_has_heard_all_before_it();
    laws::cutting_ends_both_waits();
    laws::one_object_serves_one_connection_after_the_other();
    laws::bytes_that_nobody_sends_end_the_connection();
}
TEST_CASE("gyre json transport: all of that holds where it is secured") {
    const speaking_tls secured;
    const speaking_json format;
    laws::packets_come_out_whole_and_in_order_wherever_bytes_are_cut();
    laws::a_batch_of_many_parts_comes_out_packet_by_packet();
    laws::a_peer_that_reads_late_misses_nothing();
    laws::who_is_told_the_end_has_heard_all_before_it();
    laws::cutting_ends_both_waits();
    laws::one_object_serves_one_connection_after_the_other();
    laws::bytes_that_nobody_sends_end_the_connection();
}
