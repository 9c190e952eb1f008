// SPDX-License-Identifier: BSL-1.0
//
// Whole SoupBinTCP packets over a connection of either side of the seam.
//
// The transport (frame_transport.hpp) that adds nothing: each packet has its length in front. Code above it
// does not see that TCP cuts bytes anywhere, nor whose sockets they are. It adds no coroutine of its own:
// what it waits for is the socket's own operation, and taking a packet that is here is a call.
#pragma once

#include <exchange/codec/soup_connection.hpp>
#include <exchange/codec/soup_framer.hpp>
#include <exchange/net/executor_traits.hpp>
#include <exchange/net/transport/frame_transport.hpp>

#include <cstddef>
#include <optional>
#include <utility>

namespace exchange {

/// @tparam  X  A side of the seam.
///
/// Threads:  that of its context; one reader and one writer.
/// Cost:     The framer's memory is taken by `open`, and serves one connection after the other until
///           `release`.
template <executor_traits X>
class packet_stream {
public:
    static constexpr bool reliable = true;
    static constexpr bool ordered = true;

    explicit packet_stream(const soup_framer_options& options) : framing_{options} {}
    explicit packet_stream(const transport_options& options) : packet_stream{options.framing} {}

    /// Carries on with another connection; what was pending of the one before is forgotten.
    void open(typename X::stream_socket socket, soup_end = soup_end::server) noexcept {
        socket_ = std::move(socket);
        if (framer_) framer_->reset();
        else framer_.emplace(framing_);
    }

    /// Waits for bytes; give their number to `received`. Yields `io_result<std::size_t>`.
    ///
    /// Errors, cancellation, threads, cost:  those of the socket's `read_some`.
    [[nodiscard]] auto receive() noexcept { return socket_.read_some(framer_->space()); }
    void received(std::size_t size) noexcept { framer_->received(size); }

    /// As `receive`, but for bytes to be ignored.
    [[nodiscard]] auto discard() noexcept {
        framer_->reset();
        return socket_.read_some(framer_->space());
    }
    void discarded(std::size_t) noexcept {}

    [[nodiscard]] soup_framed next() noexcept { return framer_->next(); }
    /// Has the packets that are here entirely, borrowed until the next `receive`.
    [[nodiscard]] soup_framer& framer() noexcept { return *framer_; }

    /// The end of the stream is told by `receive`.
    [[nodiscard]] static constexpr bool ended() noexcept { return false; }
    [[nodiscard]] static constexpr bool owes() noexcept { return false; }
    [[nodiscard]] static bool ready(const soup_output& packets) noexcept {
        return packets.size() > 0;
    }

    /// Writes some of `packets`, whose memory is borrowed. Yields `io_result<std::size_t>`.
    ///
    /// Errors, cancellation, threads, cost:  those of the socket's `write_some`.
    [[nodiscard]] auto send(const soup_output& packets) noexcept {
        return socket_.write_some(packets.buffers());
    }
    [[nodiscard]] static constexpr std::size_t sent(std::size_t size) noexcept { return size; }

    /// Nothing more is sent; the peer reads the end behind what was.
    void finish(soup_ending = soup_ending::none) noexcept {
        static_cast<void>(socket_.shutdown(gyre::shutdown_side::send));
    }

    /// Ends both directions now: not even what is being written leaves any more. Waits end.
    void cut() noexcept { static_cast<void>(socket_.shutdown(gyre::shutdown_side::both)); }

    void close() noexcept { static_cast<void>(socket_.close()); }

    /// Gives the framer's memory back. No read is pending.
    void release() noexcept { framer_.reset(); }

    /// Where the other end is; nowhere if that is not known any more.
    [[nodiscard]] gyre::endpoint peer() const noexcept {
        const auto [unknown, where] = socket_.remote_endpoint();
        return unknown ? gyre::endpoint{} : where;
    }
    [[nodiscard]] bool is_open() const noexcept { return socket_.is_open(); }
    [[nodiscard]] std::size_t frame_bytes_max() const noexcept {
        return framing_.payload_bytes_max;
    }

private:
    typename X::stream_socket socket_;
    soup_framer_options framing_;
    std::optional<soup_framer> framer_;  // From `open` to `release`.
};

}  // namespace exchange
