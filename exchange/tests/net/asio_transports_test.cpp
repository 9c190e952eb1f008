// SPDX-License-Identifier: BSL-1.0
//
// The laws of frame transports on the coroutines of Asio: SoupBinTCP's own.
#include <exchange/net/transport/packet_stream.hpp>

#include <exchange/tests/net/asio_side.hpp>
#include <exchange/tests/net/transport_laws.hpp>

using namespace exchange;
using namespace exchange::testing;
using tcp = transport_law<asio_side, packet_stream<asio_traits>>;

TEST_CASE("asio tcp transport: packets come out whole and in order, wherever bytes are cut") {
    tcp::packets_come_out_whole_and_in_order_wherever_bytes_are_cut();
}
TEST_CASE("asio tcp transport: a batch of many parts comes out packet by packet") {
    tcp::a_batch_of_many_parts_comes_out_packet_by_packet();
}
TEST_CASE("asio tcp transport: a peer that reads late misses nothing") {
    tcp::a_peer_that_reads_late_misses_nothing();
}
TEST_CASE("asio tcp transport: a peer that is told the end has heard all before it") {
    tcp::who_is_told_the_end_has_heard_all_before_it();
}
TEST_CASE("asio tcp transport: cutting ends both waits") { tcp::cutting_ends_both_waits(); }
TEST_CASE("asio tcp transport: one object serves one connection after the other") {
    tcp::one_object_serves_one_connection_after_the_other();
}
TEST_CASE("asio tcp transport: bytes that nobody sends end the connection") {
    tcp::bytes_that_nobody_sends_end_the_connection();
}

TEST_CASE("asio tcp transport: all of that holds where it is secured") {
    const speaking_tls secured;
    tcp::packets_come_out_whole_and_in_order_wherever_bytes_are_cut();
    tcp::a_batch_of_many_parts_comes_out_packet_by_packet();
    tcp::a_peer_that_reads_late_misses_nothing();
    tcp::who_is_told_the_end_has_heard_all_before_it();
    tcp::cutting_ends_both_waits();
    tcp::one_object_serves_one_connection_after_the_other();
    tcp::bytes_that_nobody_sends_end_the_connection();
}
