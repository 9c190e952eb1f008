// SPDX-License-Identifier: BSL-1.0
//
// The laws of frame transports on the coroutines of Asio: WebSockets by Boost.Beast, of both formats, and the
// transport that gyre has, on Asio's sockets.
#include <exchange/net/asio/beast_packets.hpp>
#include <exchange/net/transport/websocket_packets.hpp>

#include <exchange/tests/net/asio_side.hpp>
#include <exchange/tests/net/transport_laws.hpp>
#include <exchange/tests/net/websocket_laws.hpp>

using namespace exchange;
using namespace exchange::testing;
using laws = transport_law<asio_side, beast_packets>;
using servers = websocket_law<asio_side, beast_packets>;
using channel = transport_law<asio_side, websocket_packets<asio_traits>>;
using channel_servers = websocket_law<asio_side, websocket_packets<asio_traits>>;
using beast_client = transport_law<asio_side, websocket_packets<asio_traits>, beast_packets>;
using beast_server = transport_law<asio_side, beast_packets, websocket_packets<asio_traits>>;

TEST_CASE("asio beast transport: packets come out whole and in order, wherever bytes are cut") {
    laws::packets_come_out_whole_and_in_order_wherever_bytes_are_cut();
}
TEST_CASE("asio beast transport: a batch of many parts comes out packet by packet") {
    laws::a_batch_of_many_parts_comes_out_packet_by_packet();
}
TEST_CASE("asio beast transport: a peer that reads late misses nothing") {
    laws::a_peer_that_reads_late_misses_nothing();
}
TEST_CASE("asio beast transport: a peer that is told the end has heard all before it") {
    laws::who_is_told_the_end_has_heard_all_before_it();
}
TEST_CASE("asio beast transport: cutting ends both waits") { laws::cutting_ends_both_waits(); }
TEST_CASE("asio beast transport: one object serves one connection after the other") {
    laws::one_object_serves_one_connection_after_the_other();
}
TEST_CASE("asio beast transport: bytes that nobody sends end the connection") {
    laws::bytes_that_nobody_sends_end_the_connection();
}
TEST_CASE(
    "asio beast json transport: packets come out whole and in order, wherever bytes are cut") {
    const speaking_json format;
    laws::packets_come_out_whole_and_in_order_wherever_bytes_are_cut();
}
TEST_CASE("asio beast json transport: a batch of many parts comes out packet by packet") {
    const speaking_json format;
    laws::a_batch_of_many_parts_comes_out_packet_by_packet();
}
TEST_CASE("asio beast json transport: a peer that reads late misses nothing") {
    const speaking_json format;
    laws::a_peer_that_reads_late_misses_nothing();
}
TEST_CASE("asio beast json transport: a peer that is told the end has heard all before it") {
    const speaking_json format;
    laws::who_is_told_the_end_has_heard_all_before_it();
}
TEST_CASE("asio beast json transport: cutting ends both waits") {
    const speaking_json format;
    laws::cutting_ends_both_waits();
}
TEST_CASE("asio beast json transport: one object serves one connection after the other") {
    const speaking_json format;
    laws::one_object_serves_one_connection_after_the_other();
}
TEST_CASE("asio beast json transport: bytes that nobody sends end the connection") {
    const speaking_json format;
    laws::bytes_that_nobody_sends_end_the_connection();
}
TEST_CASE("asio beast transport: each format is agreed on by its name") {
    servers::each_format_is_agreed_on_by_its_name();
}
TEST_CASE("asio beast transport: a client that asks for something else is refused by HTTP") {
    servers::who_asks_for_something_else_is_refused_by_http();
}
TEST_CASE("asio beast transport: a flood of pings is survived, and the last one is answered") {
    servers::a_flood_of_pings_is_survived_and_the_last_one_is_answered();
}
TEST_CASE("asio beast transport: a client that closes is answered with its number") {
    servers::a_client_that_closes_is_answered_with_its_number();
}
TEST_CASE("asio beast transport: a server closes with the reason and waits for the answer") {
    servers::a_server_closes_with_the_reason_and_waits_for_the_answer();
}
TEST_CASE("asio beast transport: a peer that never answers a close is cut off") {
    servers::a_peer_that_never_answers_a_close_is_cut_off_by_who_waits();
}
TEST_CASE("asio beast transport: frames that must not be end the session") {
    servers::frames_that_must_not_be_end_the_session();
}
TEST_CASE("asio websocket transport: packets come out whole and in order, wherever bytes are cut") {
    channel::packets_come_out_whole_and_in_order_wherever_bytes_are_cut();
}
TEST_CASE("asio websocket transport: a batch of many parts comes out packet by packet") {
    channel::a_batch_of_many_parts_comes_out_packet_by_packet();
}
TEST_CASE("asio websocket transport: a peer that reads late misses nothing") {
    channel::a_peer_that_reads_late_misses_nothing();
}
TEST_CASE("asio websocket transport: a peer that is told the end has heard all before it") {
    channel::who_is_told_the_end_has_heard_all_before_it();
}
TEST_CASE("asio websocket transport: cutting ends both waits") {
    channel::cutting_ends_both_waits();
}
TEST_CASE("asio websocket transport: one object serves one connection after the other") {
    channel::one_object_serves_one_connection_after_the_other();
}
TEST_CASE("asio websocket transport: bytes that nobody sends end the connection") {
    channel::bytes_that_nobody_sends_end_the_connection();
}
TEST_CASE("asio websocket transport: each format is agreed on by its name") {
    channel_servers::each_format_is_agreed_on_by_its_name();
}
TEST_CASE("asio websocket transport: a client that asks for something else is refused by HTTP") {
    channel_servers::who_asks_for_something_else_is_refused_by_http();
}
TEST_CASE("asio websocket transport: a flood of pings is survived, and the last one is answered") {
    channel_servers::a_flood_of_pings_is_survived_and_the_last_one_is_answered();
}
TEST_CASE("asio websocket transport: a client that closes is answered with its number") {
    channel_servers::a_client_that_closes_is_answered_with_its_number();
}
TEST_CASE("asio websocket transport: a server closes with the reason and waits for the answer") {
    channel_servers::a_server_closes_with_the_reason_and_waits_for_the_answer();
}
TEST_CASE("asio websocket transport: a peer that never answers a close is cut off") {
    channel_servers::a_peer_that_never_answers_a_close_is_cut_off_by_who_waits();
}
TEST_CASE("asio websocket transport: frames that must not be end the session") {
    channel_servers::frames_that_must_not_be_end_the_session();
}

namespace {

template <class Law>
void check_that_both_libraries_understand_each_other_in_one_format() {
    Law::packets_come_out_whole_and_in_order_wherever_bytes_are_cut();
    Law::a_peer_that_reads_late_misses_nothing();
    Law::who_is_told_the_end_has_heard_all_before_it();
}
template <class Law>
void check_that_both_libraries_understand_each_other() {
    check_that_both_libraries_understand_each_other_in_one_format<Law>();
    const speaking_json format;
    check_that_both_libraries_understand_each_other_in_one_format<Law>();
}

}  // namespace

TEST_CASE("asio beast: its clients and gyre's servers understand each other") {
    check_that_both_libraries_understand_each_other<beast_client>();
}
TEST_CASE("asio beast: its servers and gyre's clients understand each other") {
    check_that_both_libraries_understand_each_other<beast_server>();
}

TEST_CASE("asio websocket transport: all of that holds where it is secured") {
    const speaking_tls secured;
    channel::packets_come_out_whole_and_in_order_wherever_bytes_are_cut();
    channel::a_batch_of_many_parts_comes_out_packet_by_packet();
    channel::a_peer_that_reads_late_misses_nothing();
    channel::who_is_told_the_end_has_heard_all_before_it();
    channel::cutting_ends_both_waits();
    channel::one_object_serves_one_connection_after_the_other();
    channel::bytes_that_nobody_sends_end_the_connection();
}
