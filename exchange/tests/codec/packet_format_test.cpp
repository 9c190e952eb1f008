// SPDX-License-Identifier: BSL-1.0
//
// What exchange/codec/packet_format.hpp adds to the codecs that it calls.
#include <exchange/codec/packet_format.hpp>

#include <exchange/codec/command_codec.hpp>

#include <codec/packets.hpp>

#include <doctest/doctest.h>

#include <array>
#include <string>

using namespace exchange;
using namespace exchange::testing;

namespace {

std::string written(packet_format& by, char type, std::string_view payload,
                    std::size_t room = 512) {
    bytes into(room);
    const bytes packet = framed(type, payload);
    const auto size = by.write(packet, into);
    return size ? text_of(std::span{into}.first(*size)) : "nothing";
}

std::string a_message() {
    cancel_orders all{};
    all.client_seq = client_sequence{1};
    all.account = account_id{2};
    bytes message(message_bytes_of<cancel_orders>);
    encode(all, message);
    return text_of(message);
}

}  // namespace

TEST_CASE("packet format: a binary message is a packet without its length") {
    packet_format it{session_format::sbe, soup_end::server, 8};
    CHECK(written(it, 'U', "order") == "Uorder");
    CHECK(written(it, 'U', "order", 5) == "nothing");
    const auto read = it.read(bytes_of("Uorder"));
    CHECK(read.framed.complete);
    CHECK(read.framed.packet.type == soup_type::unsequenced);
    CHECK(text_of(read.framed.packet.payload) == "order");
    CHECK(it.read({}).framed.ending == soup_ending::empty_packet);
    CHECK(it.read(bytes_of("U12345678")).framed.complete);
    CHECK(it.read(bytes_of("U123456789")).framed.ending == soup_ending::oversized_packet);
}

TEST_CASE("packet format: a server counts its stream from where the login is accepted") {
    packet_format it{session_format::json, soup_end::server, 256};
    const auto accepted = format_soup_acceptance({"DAY", 41});
    written(it, 'A', text_of(accepted));
    CHECK(written(it, 'S', a_message()).find(R"("sequence":"41")") != std::string::npos);
    CHECK(written(it, 'S', a_message(), 10) == "nothing");  // It is tried again, under its number.
    CHECK(written(it, 'S', a_message()).find(R"("sequence":"42")") != std::string::npos);
    CHECK(written(it, 'U', a_message()).find("sequence\"") == std::string::npos);
    CHECK(written(it, '?', "") == "nothing");
}

TEST_CASE("packet format: what many are told is put into words once, but for numbers of streams") {
    said_texts said;
    packet_format first{session_format::json, soup_end::server, 256, &said};
    packet_format second{session_format::json, soup_end::server, 256, &said};
    packet_format alone{session_format::json, soup_end::server, 256};
    const std::string text = written(alone, 'U', a_message());
    CHECK(written(first, 'U', a_message()) == text);
    const bytes packet = framed('U', a_message());
    CHECK(text_of(said.find(packet)) == text);
    said.keep(packet, bytes_of("as it was said before"));
    CHECK(written(second, 'U', a_message()) == "as it was said before");
    CHECK(written(second, 'U', a_message(), 10) == "nothing");

    static_cast<void>(written(first, 'A', text_of(format_soup_acceptance({"DAY", 41}))));
    static_cast<void>(written(second, 'A', text_of(format_soup_acceptance({"DAY", 7}))));
    CHECK(written(first, 'S', a_message()).find(R"("sequence":"41")") != std::string::npos);
    CHECK(written(second, 'S', a_message()).find(R"("sequence":"7")") != std::string::npos);
}

TEST_CASE("packet format: a problem of a client's is answered, one of a server's is the end") {
    packet_format server{session_format::json, soup_end::server, 256};
    const auto asked = server.read(bytes_of("[]"));
    CHECK_FALSE(asked.framed.complete);
    CHECK(asked.framed.ending == soup_ending::none);
    CHECK(asked.problem.fault == json_fault::message_not_first);

    packet_format client{session_format::json, soup_end::client, 256};
    CHECK(client.read(bytes_of("[]")).framed.ending == soup_ending::broken_transport);
}

TEST_CASE("packet format: a client of JSON notices a number that is left out") {
    packet_format server{session_format::json, soup_end::server, 256};
    packet_format client{session_format::json, soup_end::client, 256};
    const auto accepted = format_soup_acceptance({"DAY", 5});
    CHECK(client.read(bytes_of(written(server, 'A', text_of(accepted)))).framed.complete);
    CHECK(client.read(bytes_of(written(server, 'S', a_message()))).framed.complete);
    written(server, 'S', a_message());
    const auto third = client.read(bytes_of(written(server, 'S', a_message())));
    CHECK(third.problem.fault == json_fault::wrong_sequence);
    CHECK(third.framed.ending == soup_ending::broken_transport);
}

TEST_CASE("packet format: texts may be longer than packets, and are bounded as well") {
    packet_format it{session_format::json, soup_end::server, 100};
    CHECK(it.message_bytes_max() == 404);
    CHECK(it.read(bytes(405)).framed.ending == soup_ending::oversized_packet);
    CHECK(it.read(bytes(404)).problem.fault != json_fault::none);
}

TEST_CASE("packet format: packets of an output are measured by their own length") {
    bytes two = framed('U', "order");
    const bytes more = framed('R', "");
    two.insert(two.end(), more.begin(), more.end());
    CHECK(whole_packet_bytes(two) == 8);
    CHECK(whole_packet_bytes(std::span{two}.subspan(8)) == 3);
}
