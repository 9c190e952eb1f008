// SPDX-License-Identifier: BSL-1.0
//
// Packets on their way from a channel down to the machine of a session.
#pragma once

#include <exchange/codec/soup_packet.hpp>

#include <span>

namespace exchange {

/// Packets that came together.
struct packet_batch {
    std::span<const soup_packet> packets;    ///< Borrowed from the channel until its next receive.
    soup_ending ending = soup_ending::none;  ///< Why nothing follows the packets, for good.

    /// @pre  there are packets.
    [[nodiscard]] soup_packet take_first() noexcept {
        const soup_packet first = packets.front();
        packets = packets.subspan(1);
        return first;
    }
};

}  // namespace exchange
