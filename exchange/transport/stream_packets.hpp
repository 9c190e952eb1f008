// SPDX-License-Identifier: BSL-1.0
//
// Packets of SoupBinTCP on a stream, plain or secured: each has its length in front.
#pragma once

#include <exchange/codec/soup_framer.hpp>
#include <exchange/transport/packet_channel.hpp>

#include <gyre/stream/any_stream.hpp>

#include <vector>

namespace exchange {

class stream_packets final : public packet_channel {
public:
    /// @param  on    Owned; connected, its handshake over.
    /// @param  name  Static storage.
    stream_packets(gyre::any_stream on, const soup_framer_options& framing, std::string_view name)
        : on_{std::move(on)}, framer_{framing}, name_{name} {}

    [[nodiscard]] gyre::task<gyre::io_result<packet_batch>> receive() override;
    [[nodiscard]] gyre::task<gyre::io_result<std::size_t>> send(
        std::span<const std::byte> packets) override;
    [[nodiscard]] gyre::task<> end(soup_ending why) override;
    [[nodiscard]] std::string_view name() const noexcept override { return name_; }

private:
    gyre::any_stream on_;
    soup_framer framer_;
    std::vector<soup_packet> packets_;  // Result of the last receive.
    std::string_view name_;
};

}  // namespace exchange
