// SPDX-License-Identifier: BSL-1.0
//
// Packets of a session over any connection: TCP, TLS, WebSocket.
//
// A session's loop (server/client_session.hpp, client/) hands down what `receive` yields and sends what its
// machine offers; it does not know what carries the packets. stream_packets.hpp and websocket_messages.hpp
// are the two kinds.
#pragma once

#include <exchange/codec/packet_batch.hpp>

#include <gyre/base/result.hpp>
#include <gyre/coro/task.hpp>

#include <cstddef>
#include <span>
#include <string_view>

namespace exchange {

/// One end of a connection that carries packets. One coroutine receives, one sends.
///
/// Threads:  the loop's.
/// Cost:     Memory for what is on its way; no allocation for a packet.
class packet_channel {
public:
    packet_channel() noexcept = default;
    packet_channel(const packet_channel&) = delete;
    packet_channel& operator=(const packet_channel&) = delete;
    virtual ~packet_channel() = default;

    /// Waits for packets.
    ///
    /// @return At least one packet, or an ending.
    ///
    /// Errors:        those of the stream, by which the connection is over; `errc::eof` in order.
    /// Cancellation:  `errc::canceled`; nothing is lost.
    [[nodiscard]] virtual gyre::task<gyre::io_result<packet_batch>> receive() = 0;

    /// Sends some of `packets`.
    ///
    /// @param  packets  Whole ones, but for the first if a part of it was sent before. Borrowed. Not empty.
    /// @return Bytes that need not be offered again, at least one.
    ///
    /// Errors:        those of the stream; `errc::timed_out` if the peer has taken nothing for long.
    /// Cancellation:  `errc::canceled`. What was begun stays begun: nothing but `end` may follow.
    [[nodiscard]] virtual gyre::task<gyre::io_result<std::size_t>> send(
        std::span<const std::byte> packets) = 0;

    /// Tells the peer that nothing follows, and waits until it has ended its direction, too: closing at once
    /// could destroy the last packets. Input is dropped. No receive or send is pending.
    ///
    /// Errors:        none.
    /// Cancellation:  ends the wait.
    [[nodiscard]] virtual gyre::task<> end(soup_ending why) = 0;

    /// Name for people, such as "soup, TLS"; static storage.
    [[nodiscard]] virtual std::string_view name() const noexcept = 0;
};

}  // namespace exchange
