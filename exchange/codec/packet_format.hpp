// SPDX-License-Identifier: BSL-1.0
//
// What the packets of a session look like in messages that have a length of their own.
//
// Over TCP a packet has its length in front (soup_framer.hpp). Where each message is one packet, as in a
// WebSocket, it needs none, and may as well be JSON. Client and server agree on it once; from then on this is
// all that a transport of messages has to know of packets.
#pragma once

#include <exchange/codec/json_packet.hpp>
#include <exchange/codec/said_texts.hpp>
#include <exchange/codec/soup_framer.hpp>
#include <exchange/codec/soup_packet.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace exchange {

enum class session_format : std::uint8_t {
    sbe,  ///< A packet of SoupBinTCP without its length.
    json  ///< An object: json_packet.hpp.
};

/// One end of one connection.
///
/// Threads:  One at a time.
/// Cost:     Of JSON, memory for a packet at construction.
class packet_format {
public:
    /// @param  said  Where texts are kept that others are told as well. Borrowed, or null.
    packet_format(session_format format, soup_end we, std::size_t payload_bytes_max,
                  said_texts* said = nullptr);

    /// Most bytes of a message that the peer may send.
    [[nodiscard]] std::size_t message_bytes_max() const noexcept;

    /// What a message is.
    struct reading {
        soup_framed
            framed{};  ///< A packet; or why there will be none, for good; or neither, and there is
        json_problem problem{};  ///< this to be answered.
    };

    /// @param  message  Borrowed, as long as the packet is used.
    ///
    /// Errors:  `empty_packet`, `oversized_packet`. A text that is none is a `problem` of its client's; of a
    ///          server's it is `broken_transport`, and what is wrong stands beside it.
    [[nodiscard]] reading read(std::span<const std::byte> message) noexcept;

    /// Writes a packet as a message.
    ///
    /// @param  packet  Whole, its length in front, and one of ours.
    /// @return The bytes written; nothing if there is no room, or no way to say it.
    [[nodiscard]] std::optional<std::size_t> write(std::span<const std::byte> packet,
                                                   std::span<std::byte> into) noexcept;

    [[nodiscard]] bool is_text() const noexcept { return format_ == session_format::json; }

private:
    [[nodiscard]] reading read_text(std::string_view text) noexcept;

    session_format format_;
    soup_end we_;
    std::size_t payload_bytes_max_;
    said_texts* said_;
    std::vector<std::byte> decoded_;  // Of JSON: the packet that was read last.
    std::uint64_t next_in_ = 0;       // Of a client: the number of the message that is due.
    std::uint64_t next_out_ = 0;      // Of a server: that of the next one in its stream.
};

/// How long the packet is that `wire` begins with, its length included.
///
/// @param  wire  Whole packets that this exchange has made.
[[nodiscard]] std::size_t whole_packet_bytes(std::span<const std::byte> wire) noexcept;

}  // namespace exchange
