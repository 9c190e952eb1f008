// SPDX-License-Identifier: BSL-1.0
//
// Every decoder of the exchange as a function of bytes that must survive all of them.
//
// Each does what a gateway would do with bytes from outside, and checks what must hold whatever they are.
// libfuzzer.cpp makes a fuzzer of each, replay_test.cpp an ordinary test of them all.
#pragma once

#include <cstddef>
#include <span>

namespace exchange::fuzz {

using input = std::span<const std::byte>;

/// What decodes as a command encodes into the same bytes.
void commands(input bytes);

/// What decodes as an event encodes into the same bytes.
void events(input bytes);

/// The same packets come out however the stream is cut.
void soup_framer(input bytes);

/// A server that is told anything ends its session at most once, and writes whole packets.
void soup_server(input bytes);

/// The same for a client; sequence numbers only grow.
void soup_client(input bytes);

/// The same frames come out however the stream is cut.
void link_framer(input bytes);

/// A link that is told anything ends at most once, with a reason, and writes whole frames.
void link_facility(input bytes);
void link_gateway(input bytes);

/// Every message of a packet lies inside it.
void mold_packet(input bytes);

/// Datagrams of any content are delivered in order, each message once.
void mold_receiver(input bytes);

/// A request is answered with a well-formed datagram of bounded size, or not at all.
void mold_request(input bytes);

/// What reads as a packet in JSON reads the same when it is said again.
void json_packet(input bytes);

struct decoder {
    const char* name;
    void (*run)(input bytes);
};

inline constexpr decoder decoders[] = {
    {"commands", commands},           {"events", events},
    {"soup_framer", soup_framer},     {"soup_server", soup_server},
    {"soup_client", soup_client},     {"mold_packet", mold_packet},
    {"mold_receiver", mold_receiver}, {"mold_request", mold_request},
    {"json_packet", json_packet},     {"link_framer", link_framer},
    {"link_facility", link_facility}, {"link_gateway", link_gateway},
};

}  // namespace exchange::fuzz
