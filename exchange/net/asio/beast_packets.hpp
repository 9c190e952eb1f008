// SPDX-License-Identifier: BSL-1.0
//
// A session's packets in the messages of a WebSocket, by Boost.Beast: what a program on Boost.Asio would
// use.
//
// A transport (transport/frame_transport.hpp) beside websocket_packets.hpp, so that what is compared on
// Asio's side is Asio's own library. Who is let in is decided by the same words (websocket_opening.hpp),
// and packets become messages by the same format (codec/packet_format.hpp); frames, masks, pings and the
// closing handshake are Beast's. It takes and gives a message at a time, so each is an operation and a
// coroutine, and a batch is written one message after the other.
#pragma once

#include <exchange/codec/packet_format.hpp>
#include <exchange/net/asio/traits.hpp>
#include <exchange/net/transport/frame_transport.hpp>
#include <exchange/net/transport/websocket_close.hpp>
#include <exchange/net/transport/websocket_opening.hpp>

#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket/stream.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace exchange {

/// Threads:  that of its context; one reader and one writer.
/// Cost:     Memory for each connection, from `open` to `release`; two frames and what Beast takes for a
///           message.
class beast_packets {
public:
    static constexpr bool reliable = true;
    static constexpr bool ordered = true;
    static constexpr bool can_be_secured = false;  // Beast has its own stream beneath it.
    template <class Result>
    using task = asio_traits::task<Result>;
    using outcome = gyre::io_result<std::size_t>;

    explicit beast_packets(const transport_options& options) : options_{options} {}

    void open(asio_stream_socket socket, soup_end we = soup_end::server);
    void cut() noexcept;
    void close() noexcept;
    void release() noexcept { at_.reset(); }

    /// A message, or the opening.
    ///
    /// Errors:        those of the socket and of Beast; what the peer must not send is one, and was
    ///                answered by a close frame.
    /// Cancellation:  `cut`.
    /// Threads:       that of the context.
    /// Cost:          two frames.
    [[nodiscard]] task<outcome> receive();
    void received(std::size_t) noexcept {}
    [[nodiscard]] soup_framed next() noexcept;
    [[nodiscard]] bool ended() const noexcept { return at_->refused; }

    [[nodiscard]] bool owes() const noexcept { return !at_->unsaid.empty() || at_->close_due; }
    [[nodiscard]] bool ready(const soup_output& packets) const noexcept {
        return owes() || (at_->opened && !at_->closing && packets.size() > 0);
    }
    /// What it owes, then all packets, each by a write.
    ///
    /// Errors, cancellation, threads, cost:  as `receive`; two frames for each message.
    [[nodiscard]] task<outcome> send(const soup_output& packets);
    [[nodiscard]] std::size_t sent(std::size_t) noexcept { return std::exchange(at_->taken, 0); }
    void finish(soup_ending why);

    /// As `receive`, but for messages to be ignored.
    [[nodiscard]] task<outcome> discard();
    void discarded(std::size_t) noexcept {}

    [[nodiscard]] gyre::endpoint peer() const noexcept;
    [[nodiscard]] bool is_open() const noexcept { return at_ && at_->open; }
    [[nodiscard]] bool opened() const noexcept { return at_->opened; }
    [[nodiscard]] std::string_view name() const noexcept { return "websocket"; }
    [[nodiscard]] std::size_t frame_bytes_max() const noexcept {
        return options_.framing.payload_bytes_max;
    }

private:
    using stream = boost::beast::websocket::stream<asio_stream, false>;

    /// A connection.
    struct connection {
        connection(asio_stream socket, const transport_options& options, soup_end we,
                   const std::string& authority)
            : socket{std::move(socket)},
              opening{std::in_place, options.websocket, we, authority},
              end{we},
              authority{authority} {}

        stream socket;
        std::optional<websocket_opening> opening;
        std::optional<packet_format> format;
        boost::beast::flat_buffer in;     // A message, behind `receive`.
        std::vector<std::byte> out;       // The message that is being written.
        std::vector<std::string> unsaid;  // Texts of ours that are no packets.
        std::size_t unsaid_bytes = 0;
        std::size_t taken = 0;
        soup_end end;
        std::string authority;
        websocket_close_reason closes_with{};
        bool open = true;
        bool opened = false;
        bool refused = false;
        bool message = false;  // `in` has one that `next` has not told.
        bool close_due = false;
        bool closing = false;
        bool was_cut = false;
    };

    [[nodiscard]] task<outcome> accept_client();
    [[nodiscard]] task<outcome> ask_server();
    [[nodiscard]] task<outcome> say_text(std::string text);
    [[nodiscard]] task<outcome> say_packet(std::span<const std::byte> packet);
    [[nodiscard]] task<outcome> say_close();
    void agree(session_format format);

    transport_options options_;
    std::optional<connection> at_;
};

static_assert(frame_transport<beast_packets, asio_traits>);

}  // namespace exchange
