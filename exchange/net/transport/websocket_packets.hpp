// SPDX-License-Identifier: BSL-1.0
//
// A session's packets in the messages of a WebSocket, over a connection of either side of the seam.
//
// A transport (frame_transport.hpp). What it reads and writes is websocket_channel.hpp's; like
// packet_stream.hpp it has no coroutine of its own: what it waits for is the socket's own operation.
#pragma once

#include <exchange/net/executor_traits.hpp>
#include <exchange/net/transport/frame_transport.hpp>
#include <exchange/net/transport/websocket_channel.hpp>

#include <cstddef>
#include <optional>
#include <utility>

namespace exchange {

/// @tparam  X  A side of the seam.
///
/// Threads:  that of its context; one reader and one writer.
/// Cost:     Memory for each connection, from `open` to `release`. A copy of what is sent.
template <executor_traits X>
class websocket_packets {
public:
    static constexpr bool reliable = true;
    static constexpr bool ordered = true;

    explicit websocket_packets(const transport_options& options) : options_{options} {}

    void open(typename X::stream_socket socket, soup_end we = soup_end::server) {
        socket_ = std::move(socket);
        channel_.emplace(options_, we, we == soup_end::client ? peer().to_string() : std::string{});
    }

    /// Errors, cancellation, threads, cost:  those of the socket's `read_some`.
    [[nodiscard]] auto receive() noexcept { return socket_.read_some(channel_->space()); }
    void received(std::size_t size) noexcept { channel_->received(size); }
    [[nodiscard]] soup_framed next() noexcept { return channel_->next(); }
    [[nodiscard]] bool ended() const noexcept { return channel_->ended(); }
    /// Has the other end said no to a WebSocket?
    [[nodiscard]] bool refused() const noexcept { return channel_->refused(); }

    [[nodiscard]] bool owes() const noexcept { return channel_->owes(); }
    [[nodiscard]] bool ready(const soup_output& packets) const noexcept {
        return channel_->ready(packets);
    }
    /// Errors, cancellation, threads, cost:  those of the socket's `write_some`.
    [[nodiscard]] auto send(const soup_output& packets) noexcept {
        return socket_.write_some(channel_->offer(packets));
    }
    [[nodiscard]] std::size_t sent(std::size_t size) noexcept { return channel_->sent(size); }

    void finish(soup_ending why) noexcept { channel_->finish(why); }

    /// Errors, cancellation, threads, cost:  those of the socket's `read_some`.
    [[nodiscard]] auto discard() noexcept {
        look_for_the_end();
        return socket_.read_some(channel_->space());
    }
    void discarded(std::size_t size) noexcept {
        channel_->received(size);
        look_for_the_end();
    }

    /// Ends both directions now: not even what is being written leaves any more. Waits end.
    void cut() noexcept { static_cast<void>(socket_.shutdown(gyre::shutdown_side::both)); }
    void close() noexcept { static_cast<void>(socket_.close()); }
    void release() noexcept { channel_.reset(); }

    /// Where the other end is; nowhere if that is not known any more.
    [[nodiscard]] gyre::endpoint peer() const noexcept {
        const auto [unknown, where] = socket_.remote_endpoint();
        return unknown ? gyre::endpoint{} : where;
    }
    [[nodiscard]] bool is_open() const noexcept { return socket_.is_open(); }
    [[nodiscard]] std::size_t frame_bytes_max() const noexcept {
        return options_.framing.payload_bytes_max;
    }

private:
    // RFC 6455, 7.1.1: behind both close frames the server ends the connection first, and the client waits
    // for that.
    void look_for_the_end() noexcept {
        channel_->drop();
        if (channel_->ended()) static_cast<void>(socket_.shutdown(gyre::shutdown_side::send));
    }

    typename X::stream_socket socket_;
    transport_options options_;
    std::optional<websocket_channel> channel_;  // From `open` to `release`.
};

}  // namespace exchange
