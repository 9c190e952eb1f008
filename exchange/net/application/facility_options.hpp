// SPDX-License-Identifier: BSL-1.0
//
// What a matching facility is told before it starts, whichever library carries out its I/O.
#pragma once

#include <exchange/codec/soup_framer.hpp>
#include <exchange/codec/soup_packet.hpp>
#include <exchange/net/application/gateway_access.hpp>
#include <exchange/net/application/inherited_listeners.hpp>
#include <exchange/net/transport/feed_options.hpp>
#include <exchange/net/transport/transport_options.hpp>

#include <gyre/base/time.hpp>
#include <gyre/io/endpoint.hpp>

#include <chrono>
#include <cstddef>
#include <string>

namespace exchange {

struct facility_options {
    gyre::endpoint order_entry;  ///< Where clients connect; port 0 lets the kernel choose.
    gyre::endpoint websocket;  ///< Where clients of WebSocket connect; nowhere, if there are none.
    gyre::endpoint feed;       ///< Where the public feed goes: a group, or one receiver.
    gyre::endpoint feed_from;  ///< Where it comes from; port 0 lets the kernel choose.
    std::string
        feed_interface;  ///< Through which a group is reached, such as "eth0". Empty: default.
    gyre::endpoint feed_requests;      ///< Where requests for retransmission come; port 0 as above.
    std::size_t connections_max = 64;  ///< At each of both doors; more than may be logged in.
    std::size_t packets_per_turn_max = 64;  ///< Carried out before what they caused is written.
    std::size_t datagrams_per_send = 64;    ///< Of the feed, at most.
    std::size_t datagram_bytes_max = 1400;  ///< That of the feed's mold_sender.
    soup_options sessions{};
    soup_framer_options framing{};
    websocket_options websockets{};
    gyre::duration timer_tick = std::chrono::milliseconds{50};  ///< How exact heartbeats are.
    gyre::duration linger = std::chrono::seconds{2};  ///< For a client to read our last words.
    answer_limit answers{};                           ///< To those who missed a part of the feed.
    gateway_access gateways{};                        ///< Of pipelines that are coroutines.
    inherited_listeners* inherited =
        nullptr;  ///< For doors that are among these. Borrowed, or null.

    [[nodiscard]] transport_options transports() const {
        return {.framing = framing, .websocket = websockets};
    }
    [[nodiscard]] feed_options publishing() const noexcept {
        return {.group = feed,
                .datagrams_per_send = datagrams_per_send,
                .datagram_bytes_max = datagram_bytes_max,
                .pause = timer_tick,
                .answers = answers};
    }
};

}  // namespace exchange
