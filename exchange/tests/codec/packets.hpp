// SPDX-License-Identifier: BSL-1.0
//
// Bytes and text side by side, as tests of SoupBinTCP and MoldUDP64 want to read them.
#pragma once

#include <exchange/codec/mold_sender.hpp>
#include <exchange/codec/soup_connection.hpp>
#include <exchange/codec/soup_framer.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace exchange::testing {

using bytes = std::vector<std::byte>;

[[nodiscard]] inline std::span<const std::byte> bytes_of(std::string_view text) {
    return std::as_bytes(std::span{text.data(), text.size()});
}

[[nodiscard]] inline std::string text_of(std::span<const std::byte> data) {
    return {reinterpret_cast<const char*>(data.data()), data.size()};
}

[[nodiscard]] inline bytes joined(const soup_output& output) {
    bytes all;
    for (const auto part : output.buffers()) all.insert(all.end(), part.begin(), part.end());
    return all;
}

[[nodiscard]] inline bytes joined(const mold_datagram& datagram) {
    bytes all{datagram.header.begin(), datagram.header.end()};
    all.insert(all.end(), datagram.messages.begin(), datagram.messages.end());
    return all;
}

/// A packet as a test gives it to a machine.
[[nodiscard]] inline soup_packet packet(char type, std::string_view payload = {}) {
    return {static_cast<soup_type>(type), bytes_of(payload)};
}

/// A whole packet on the wire.
[[nodiscard]] inline bytes framed(char type, std::string_view payload) {
    bytes out(soup_header_bytes);
    write_soup_header(std::span{out}.first<soup_header_bytes>(), static_cast<soup_type>(type),
                      payload.size());
    const auto data = bytes_of(payload);
    out.insert(out.end(), data.begin(), data.end());
    return out;
}

/// What a peer would see of `output`: each packet as its type and payload.
[[nodiscard]] inline std::vector<std::string> packets_of(std::span<const std::byte> wire) {
    soup_framer framer{{.payload_bytes_max = soup_payload_bytes_max, .buffer_bytes_max = 1 << 20}};
    std::vector<std::string> packets;
    REQUIRE(wire.size() <= framer.space().size());
    std::copy(wire.begin(), wire.end(), framer.space().begin());
    framer.received(wire.size());
    for (soup_framed next = framer.next(); next.complete; next = framer.next())
        packets.push_back(static_cast<char>(next.packet.type) + text_of(next.packet.payload));
    REQUIRE(framer.pending_bytes() == 0);
    return packets;
}

/// Takes everything that a machine wants to write, as if the write had succeeded at `now`.
template <class Machine>
[[nodiscard]] std::vector<std::string> written(Machine& machine, gyre::time_point now) {
    const soup_output output = machine.output();
    const bytes wire = joined(output);
    machine.sent(wire.size(), now);
    return packets_of(wire);
}

inline constexpr gyre::time_point start{std::chrono::hours{1}};

}  // namespace exchange::testing
