// SPDX-License-Identifier: BSL-1.0
//
// A session's packets in the messages of a WebSocket, as a function of bytes.
//
// Each message is one packet: binary ones have a packet of SoupBinTCP without its length, text ones have
// JSON (codec/json_packet.hpp), as client and server agreed in the opening. The frames are gyre's own
// (gyre/websocket: frame_parser, encoded_header, masks), which know no stream; here they meet no stream
// either, so that either side of the seam, a test and a fuzzer drive the same machine.
// websocket_packets.hpp puts a socket under it.
//
// What is sent has to be made anew, since a stream keeps its messages with another framing. So whole packets
// are taken out of an output for as long as there is room, and an output is not needed any more once it was
// taken: for the session that is like a socket whose buffer is larger.
#pragma once

#include <exchange/codec/double_buffer.hpp>
#include <exchange/codec/packet_format.hpp>
#include <exchange/codec/soup_connection.hpp>
#include <exchange/codec/soup_framer.hpp>
#include <exchange/net/transport/transport_options.hpp>
#include <exchange/net/transport/websocket_close.hpp>
#include <exchange/net/transport/websocket_opening.hpp>

#include <gyre/websocket/close_code.hpp>
#include <gyre/websocket/frame.hpp>
#include <gyre/websocket/frame_parser.hpp>
#include <gyre/websocket/masking.hpp>
#include <gyre/websocket/message_buffer.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace exchange {

/// Threads:  One at a time.
/// Cost:     Memory is taken at construction, and for the opening until it is over; a copy of each byte that
///           is sent.
class websocket_channel {
public:
    /// @param  options    Borrowed; outlives this.
    /// @param  authority  Of a client: whom it asks.
    websocket_channel(const transport_options& options, soup_end we,
                      std::string_view authority = {});
    websocket_channel(const websocket_channel&) = delete;
    websocket_channel& operator=(const websocket_channel&) = delete;

    // Bytes in. As a frame_transport has them.

    /// Where the next bytes of the peer belong. Never empty once `next` has nothing more to give.
    [[nodiscard]] std::span<std::byte> space() noexcept;
    void received(std::size_t size) noexcept;

    /// The next whole packet, borrowed until the next call.
    ///
    /// Errors:  `empty_packet`, `oversized_packet`; `broken_transport` for what breaks a rule of
    ///          WebSocket, which the peer is told by the number of the close frame; `fell_behind` if
    ///          answers to texts that are no JSON are not read. A text that is none is answered, and is no
    ///          packet.
    [[nodiscard]] soup_framed next() noexcept;

    /// Drops what has come. Only an end is looked for.
    void drop() noexcept;

    /// Is the opening over, with an agreement?
    [[nodiscard]] bool opened() const noexcept { return phase_ == phase::open; }
    /// Was there no agreement, so that trying again is of no use?
    [[nodiscard]] bool refused() const noexcept { return phase_ == phase::refused; }
    /// Has the peer closed, or was there no agreement?
    [[nodiscard]] bool ended() const noexcept {
        return peer_closed_ || phase_ == phase::refused || phase_ == phase::unavailable;
    }

    // Bytes out.

    [[nodiscard]] bool owes() const noexcept { return pong_due_ || !out_.empty(); }
    [[nodiscard]] bool ready(const soup_output& output) const noexcept {
        return owes() || (output.size() > 0 && phase_ == phase::open && !closing_);
    }
    /// Takes packets of `output` as far as there is room, and says what to write next. Valid until `sent`.
    [[nodiscard]] std::span<const std::byte> offer(const soup_output& output) noexcept;
    /// @param  size  How much of the offer was written.
    /// @return How much of the output was taken.
    [[nodiscard]] std::size_t sent(std::size_t size) noexcept;

    /// Says that nothing follows, and why.
    void finish(soup_ending why) noexcept;

private:
    enum class phase : std::uint8_t { opening, open, refused, unavailable };

    void open() noexcept;
    void say(std::string_view text) noexcept;
    [[nodiscard]] soup_framed take(const gyre::websocket::parsed& got) noexcept;
    [[nodiscard]] soup_framed packet_of(gyre::websocket::message_kind kind) noexcept;
    [[nodiscard]] soup_framed answer(const json_problem& problem) noexcept;
    [[nodiscard]] soup_framed break_off(gyre::websocket::close_code code, soup_ending why,
                                        std::string_view words) noexcept;
    void note_ping(std::span<const std::byte> payload) noexcept;
    void note_close(const gyre::websocket::parsed& got) noexcept;

    [[nodiscard]] bool put(std::span<const std::byte> packet) noexcept;
    [[nodiscard]] std::span<std::byte> payload_space(std::size_t spare) noexcept;
    void put_frame(gyre::websocket::frame_opcode code, std::size_t payload_bytes) noexcept;
    void put_control(gyre::websocket::frame_opcode code,
                     std::span<const std::byte> payload) noexcept;
    void put_close(const websocket_close_reason& why) noexcept;

    const transport_options& options_;
    soup_end we_;
    phase phase_ = phase::opening;
    std::optional<websocket_opening> opening_;  // While it lasts.
    std::optional<packet_format> format_;       // From then on; so with the parser.

    gyre::websocket::message_buffer in_;
    std::optional<gyre::websocket::frame_parser> parser_;
    std::optional<websocket_close_reason> broken_;  // A rule, by the peer: nothing more is taken.
    bool delivered_ = false;                        // The message in `in_` was.

    double_buffer out_;
    std::optional<gyre::websocket::masking_keys> keys_;  // Of a client.
    std::size_t taken_ = 0;                              // Of the output that is being written.
    std::array<std::byte, gyre::websocket::control_bytes_max> pong_;
    std::size_t pong_bytes_ = 0;
    bool pong_due_ = false;
    bool closing_ = false;  // A close frame was put: nothing follows it.
    bool peer_closed_ = false;
};

}  // namespace exchange
