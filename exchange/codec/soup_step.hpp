// SPDX-License-Identifier: BSL-1.0
//
// What the two machines of a SoupBinTCP connection answer when they are told something.
//
// Server and client speak to their drivers in the same words, so that one driver can serve both.
#pragma once

#include <exchange/codec/soup_packet.hpp>

namespace exchange {

/// What a packet or a timer has brought about.
struct soup_step {
    enum class kind : std::uint8_t {
        nothing,
        login,    ///< Server: a client wants in; answer with `accept` or `reject`.
        started,  ///< Client: logged in.
        message,  ///< `payload` is a message of the peer.
        debug,    ///< `payload` is text for people.
        ended,    ///< The session is over: write what is still to be written, then close.
    };

    kind what = kind::nothing;
    soup_ending ending = soup_ending::none;  ///< Why, if it ended.
    std::uint64_t sequence = 0;              ///< Of a sequenced message; 0 for any other.
    std::span<const std::byte> payload{};    ///< Borrowed from the packet.
};

}  // namespace exchange
