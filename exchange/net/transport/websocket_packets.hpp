// SPDX-License-Identifier: BSL-1.0
//
// A session's packets in the messages of a WebSocket, over a connection of either side of the seam.
//
// A transport (frame_transport.hpp). What it reads and writes is websocket_channel.hpp's; like
// packet_stream.hpp it has no coroutine of its own: what it waits for is the socket's own operation.
#pragma once

#include <exchange/net/executor_traits.hpp>
#include <exchange/net/transport/frame_transport.hpp>
#include <exchange/net/transport/secured_bytes.hpp>
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
    static constexpr bool can_be_secured = true;

    explicit websocket_packets(const transport_options& options) : options_{options} {}

    void open(typename X::stream_socket socket, soup_end we = soup_end::server) {
        socket_ = std::move(socket);
        channel_.emplace(options_, we, we == soup_end::client ? peer().to_string() : std::string{});
        ends_ = false;
        if (channel_security* const by = options_.security.get())
            secured_.open(by, {we == soup_end::client, peer()});
    }

    /// Errors, cancellation, threads, cost:  those of the socket's `read_some`.
    [[nodiscard]] auto receive() noexcept {
        return socket_.read_some(secured_ ? secured_->space() : channel_->space());
    }
    void received(std::size_t size) noexcept {
        if (secured_) secured_->received(size);
        else channel_->received(size);
    }
    [[nodiscard]] soup_framed next() noexcept {
        soup_framed framed = channel_->next();
        if (!secured_) return framed;
        while (!framed.complete && framed.ending == soup_ending::none && decrypt_some())
            framed = channel_->next();
        if (!framed.complete && secured_->failed())
            return {.ending = soup_ending::broken_transport};
        return framed;
    }
    [[nodiscard]] bool ended() const noexcept {
        return channel_->ended() || (secured_ && secured_->ended());
    }
    /// Has the other end said no to a WebSocket, or to how it is to be secured?
    [[nodiscard]] bool refused() const noexcept {
        return channel_->refused() || (secured_ && secured_->refused());
    }

    [[nodiscard]] bool owes() const noexcept {
        return secured_.owes() || (secured_.passes() && channel_->owes());
    }
    [[nodiscard]] bool ready(const soup_output& packets) const noexcept {
        return secured_.owes() || (secured_.passes() && channel_->ready(packets));
    }
    /// Errors, cancellation, threads, cost:  those of the socket's `write_some`.
    [[nodiscard]] auto send(const soup_output& packets) noexcept {
        if (!secured_.owes() && secured_.passes()) offer_ = channel_->offer(packets);
        return socket_.write_some(secured_.offer({&offer_, 1}).front());
    }
    [[nodiscard]] std::size_t sent(std::size_t size) noexcept {
        const std::size_t taken = channel_->sent(secured_.sent(size));
        offer_ = {};
        end_behind_the_last();
        return taken;
    }

    void finish(soup_ending why) noexcept {
        channel_->finish(why);
        ends_ = true;
        if (secured_ && !secured_->open()) secured_->finish(why);
        else end_behind_the_last();
    }

    /// Errors, cancellation, threads, cost:  those of the socket's `read_some`.
    [[nodiscard]] auto discard() noexcept {
        if (secured_) drop_what_is_here();
        look_for_the_end();
        return socket_.read_some(secured_ ? secured_->space() : channel_->space());
    }
    void discarded(std::size_t size) noexcept {
        received(size);
        if (secured_) drop_what_is_here();
        look_for_the_end();
    }

    /// Ends both directions now: not even what is being written leaves any more. Waits end.
    void cut() noexcept { static_cast<void>(socket_.shutdown(gyre::shutdown_side::both)); }
    void close() noexcept { static_cast<void>(socket_.close()); }
    void release() noexcept {
        channel_.reset();
        secured_.release();
    }

    /// Where the other end is; nowhere if that is not known any more.
    [[nodiscard]] gyre::endpoint peer() const noexcept {
        const auto [unknown, where] = socket_.remote_endpoint();
        return unknown ? gyre::endpoint{} : where;
    }
    [[nodiscard]] bool is_open() const noexcept { return socket_.is_open(); }
    [[nodiscard]] bool opened() const noexcept { return secured_.passes() && channel_->opened(); }
    [[nodiscard]] std::string_view name() const noexcept {
        return options_.security != nullptr ? "websocket, TLS" : "websocket";
    }
    [[nodiscard]] std::size_t frame_bytes_max() const noexcept {
        return options_.framing.payload_bytes_max;
    }

private:
    void end_behind_the_last() noexcept {
        if (secured_ && ends_ && !channel_->owes()) secured_->finish(soup_ending::none);
    }
    [[nodiscard]] bool decrypt_some() noexcept {
        const std::size_t size = secured_->read(channel_->space());
        channel_->received(size);
        return size > 0;
    }
    void drop_what_is_here() noexcept {
        channel_->drop();
        while (!channel_->ended() && decrypt_some()) channel_->drop();
    }

    // RFC 6455, 7.1.1: behind both close frames the server ends the connection first, and the client waits
    // for that.
    void look_for_the_end() noexcept {
        channel_->drop();
        if (ended() || (secured_ && secured_->failed()))
            static_cast<void>(socket_.shutdown(gyre::shutdown_side::send));
    }

    typename X::stream_socket socket_;
    transport_options options_;
    std::optional<websocket_channel> channel_;  // From `open` to `release`.
    secured_bytes secured_;
    std::span<const std::byte> offer_;  // Of the channel, until it is sent.
    bool ends_ = false;                 // No packet follows.
};

}  // namespace exchange
