// SPDX-License-Identifier: BSL-1.0
//
// Sides whose clients speak WebSocket, so that laws of facilities are laws of that transport as well.
//
// A client that does as the protocol says has the transport that is judged. One that sends whatever a test
// wants (raw_client.hpp) makes its frames here, torn ones too, and reads with the machine of the transport.
#pragma once

#include <exchange/codec/big_endian.hpp>
#include <exchange/codec/json_packet.hpp>
#include <exchange/net/application/matching_facility.hpp>
#include <exchange/net/transport/websocket_packets.hpp>
#include <exchange/tests/net/spoken_format.hpp>
#include <exchange/tests/net/transport_of.hpp>

#include <gyre/websocket/frame.hpp>
#include <gyre/websocket/masking.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>

namespace exchange::testing {

/// One frame of a client, masked.
///
/// @param  announced  What its header says of the size of the payload.
[[nodiscard]] inline std::vector<std::byte> client_frame(gyre::websocket::frame_opcode code,
                                                         std::span<const std::byte> payload,
                                                         std::size_t announced) {
    gyre::websocket::frame_header header;
    header.code = code;
    header.payload_bytes = announced;
    header.key = {std::byte{0x12}, std::byte{0x34}, std::byte{0x56}, std::byte{0x78}};
    const gyre::websocket::encoded_header head{header};
    std::vector<std::byte> made{head.bytes().begin(), head.bytes().end()};
    const std::size_t begin = made.size();
    made.insert(made.end(), payload.begin(), payload.end());
    gyre::websocket::mask(std::span{made}.subspan(begin), *header.key);
    return made;
}
[[nodiscard]] inline std::vector<std::byte> client_frame(gyre::websocket::frame_opcode code,
                                                         std::span<const std::byte> payload) {
    return client_frame(code, payload, payload.size());
}
[[nodiscard]] inline std::vector<std::byte> client_text(std::string_view text) {
    return client_frame(gyre::websocket::frame_opcode::text, gyre::bytes_of(text));
}

class websocket_wire {
public:
    explicit websocket_wire(const gyre::endpoint& where)
        : options_{std::make_unique<transport_options>(options())},
          channel_{std::make_unique<websocket_channel>(*options_, soup_end::client,
                                                       where.to_string())} {}

    [[nodiscard]] std::vector<std::byte> first_words() { return owed(); }
    [[nodiscard]] bool open() { return channel_->opened(); }

    [[nodiscard]] static std::vector<std::byte> encoded(std::span<const std::byte> packets) {
        std::vector<std::byte> made;
        while (!packets.empty()) {
            const std::size_t announced = get_big_endian<std::uint16_t>(packets.first<2>());
            const std::size_t here = std::min(announced, packets.size() - 2);
            const std::vector<std::byte> frame = framed(packets.subspan(2, here), announced);
            made.insert(made.end(), frame.begin(), frame.end());
            packets = packets.subspan(2 + here);
        }
        return made;
    }

    [[nodiscard]] std::span<std::byte> space() { return channel_->space(); }
    void received(std::size_t size) { channel_->received(size); }
    [[nodiscard]] soup_framed next() { return channel_->next(); }
    [[nodiscard]] bool ended() { return channel_->ended(); }

private:
    [[nodiscard]] static transport_options options() {
        transport_options made;
        made.websocket.format = spoken_format;
        made.framing.payload_bytes_max = 4096;
        return made;
    }
    [[nodiscard]] std::vector<std::byte> owed() {
        const std::span<const std::byte> offer = channel_->offer({});
        std::vector<std::byte> made{offer.begin(), offer.end()};
        static_cast<void>(channel_->sent(made.size()));
        return made;
    }
    [[nodiscard]] static std::vector<std::byte> framed(std::span<const std::byte> packet,
                                                       std::size_t announced) {
        using gyre::websocket::frame_opcode;
        if (spoken_format == session_format::sbe)
            return client_frame(frame_opcode::binary, packet, announced);
        std::array<std::byte, 4096> text;
        json_writer to{text};
        REQUIRE(write_json_packet(to, {static_cast<soup_type>(packet[0]), packet.subspan(1)}, 0));
        return client_frame(frame_opcode::text, std::span{text}.first(to.size()));
    }

    std::unique_ptr<transport_options> options_;
    std::unique_ptr<websocket_channel> channel_;
};

/// The same side under another name.
template <class Base>
struct over_websocket : Base {};

template <class Base>
struct transport_of<over_websocket<Base>> {
    using type = websocket_packets<over_websocket<Base>>;
    using wire = websocket_wire;

    [[nodiscard]] static order_entry_client_options adapt(order_entry_client_options from) {
        from.websocket.format = spoken_format;
        return from;
    }
};

template <class Side>
struct websocket_side : Side {
    using traits = over_websocket<typename Side::traits>;
};

/// A facility as laws see it, which let clients come to `order_entry`: here that is where WebSockets are.
template <executor_traits X, class Packets = websocket_packets<X>>
class websocket_facility {
public:
    websocket_facility(typename X::context& on, order_entry_host& host,
                       const facility_options& options, span_observer* observer = nullptr)
        : it_{on, host, with_websockets(options), observer} {}

    [[nodiscard]] gyre::io_result<> start() { return it_.start(); }
    [[nodiscard]] const gyre::endpoint& order_entry() const { return it_.websocket(); }
    [[nodiscard]] const gyre::endpoint& feed_requests() const { return it_.feed_requests(); }
    void drain() { it_.drain(); }
    [[nodiscard]] bool idle() const { return it_.idle(); }
    void stop() { it_.stop(); }
    [[nodiscard]] const feed_counts& feed() const { return it_.feed(); }

private:
    [[nodiscard]] static facility_options with_websockets(facility_options options) {
        options.websocket = std::exchange(options.order_entry, {gyre::ipv4::loopback(), 0});
        // Laws of slow readers count what waits in kernel and streams.
        options.websockets.unsent_bytes_max = 16 * 1024;
        return options;
    }

    matching_facility<X, Packets> it_;
};

}  // namespace exchange::testing
