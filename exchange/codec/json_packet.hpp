// SPDX-License-Identifier: BSL-1.0
//
// The packets of a session as JSON, for clients that speak no binary: one message a packet.
//
// A session is the same whatever its packets look like (soup_server.hpp, soup_client.hpp), so this is all
// that
// JSON changes. Messages of the application are json_message.hpp's; those of a stream say their number,
// since a client that reads text should not have to count.
//
//     {"message":"login","username":"alice","password":"secret","session":"","sequence":"1"}
//     {"message":"login_accepted","session":"2611240ABC","sequence":"1"}
//     {"message":"login_rejected","reason":"not_authorized"}
//     {"message":"order_entered","sequence":"1","stamp":{...},"order":"1",...}
//     {"message":"heartbeat"}, {"message":"logout"}, {"message":"end_of_session"}
//     {"message":"debug","text":"..."}
//     {"message":"error","refused":"enter_order","field":"price","reason":"the field is
//     missing","position":62}
#pragma once

#include <exchange/codec/json_message.hpp>
#include <exchange/codec/soup_packet.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace exchange {

/// Writes a packet.
///
/// @param  packet    One that this exchange has made.
/// @param  sequence  Its number, if it is a sequenced one.
/// @return False if it cannot be said: nobody of ours makes such a packet.
[[nodiscard]] bool write_json_packet(json_writer& to, const soup_packet& packet,
                                     std::uint64_t sequence) noexcept;

/// Tells a client that its text was none.
void write_json_problem(json_writer& to, const json_problem& problem) noexcept;

/// A packet, or what is wrong with the text.
struct json_packet_reading {
    json_problem problem{};
    soup_packet packet{};  ///< If nothing is. Borrowed from `into`, of an error from the text.
    std::uint64_t sequence = 0;  ///< Of a sequenced packet, as it was said.
};

/// Reads a packet. What comes of its payload further on is for others to judge: a message of the wrong side
/// is one.
///
/// @param  text  One whole object; UTF-8.
/// @param  from  Who has sent it.
/// @param  into  Borrowed: room for the payload.
///
/// Cost:  one look at each byte, a look at the names of a message for each field; no allocation.
[[nodiscard]] json_packet_reading read_json_packet(std::string_view text, soup_end from,
                                                   std::span<std::byte> into) noexcept;

}  // namespace exchange
