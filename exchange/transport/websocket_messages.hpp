// SPDX-License-Identifier: BSL-1.0
//
// Packets as messages of a WebSocket: binary ones have a packet without its length, texts have JSON
// (codec/packet_format.hpp), as the subprotocol says.
#pragma once

#include <exchange/codec/packet_format.hpp>
#include <exchange/net/transport/transport_options.hpp>
#include <exchange/transport/packet_channel.hpp>

#include <gyre/websocket/connection.hpp>

#include <array>
#include <memory>
#include <optional>
#include <vector>

namespace exchange {

/// Bounds of a connection that carries packets.
[[nodiscard]] gyre::websocket::connection_options websocket_bounds(const transport_options& how,
                                                                   session_format format,
                                                                   soup_end we);

class websocket_messages final : public packet_channel {
public:
    /// @param  on    Borrowed; outlives this.
    /// @param  how   Copied.
    /// @param  name  Static storage.
    websocket_messages(gyre::websocket::connection& on, const transport_options& how,
                       session_format format, soup_end we, std::string_view name);

    /// Errors:  as in packet_channel.hpp. A text that is no packet is answered, and not yielded. A message of
    ///          the wrong kind, or one that breaks a rule, is an ending.
    [[nodiscard]] gyre::task<gyre::io_result<packet_batch>> receive() override;
    [[nodiscard]] gyre::task<gyre::io_result<std::size_t>> send(
        std::span<const std::byte> packets) override;
    [[nodiscard]] gyre::task<> end(soup_ending why) override;
    [[nodiscard]] std::string_view name() const noexcept override { return name_; }

private:
    [[nodiscard]] bool take_messages();
    [[nodiscard]] soup_ending take(const gyre::websocket::message& it);
    [[nodiscard]] soup_ending break_off(gyre::websocket::close_code code, soup_ending why,
                                        std::string_view words);
    [[nodiscard]] gyre::task<gyre::io_result<>> answer_problem();

    static constexpr std::size_t messages_max = 64;  // At once.

    gyre::websocket::connection& on_;
    packet_format format_;
    std::shared_ptr<said_texts> said_;  // `format_` refers to them.
    std::array<gyre::websocket::message, messages_max> received_;
    std::span<const gyre::websocket::message> untaken_;  // Part of `received_`.
    std::vector<soup_packet> packets_;                   // Result of the last receive.
    std::optional<json_problem> problem_;                // Answer is due.
    soup_ending ending_ = soup_ending::none;
    std::optional<gyre::websocket::close_reason> broken_;  // A rule of ours, by the peer.
    std::array<gyre::websocket::message, messages_max> to_send_;
    std::vector<std::byte> texts_;  // JSON on its way.
    std::string_view name_;
};

}  // namespace exchange
