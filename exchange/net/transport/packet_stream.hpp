// SPDX-License-Identifier: BSL-1.0
//
// Whole SoupBinTCP packets over a connection of either side of the seam.
//
// The transport (frame_transport.hpp) that adds nothing: each packet has its length in front. Code above it
// does not see that TCP cuts bytes anywhere, nor whose sockets they are. It adds no coroutine of its own:
// what it waits for is the socket's own operation, and taking a packet that is here is a call. Where it is
// secured (channel_security.hpp), bytes are copied once more in each direction.
#pragma once

#include <exchange/codec/soup_connection.hpp>
#include <exchange/codec/soup_framer.hpp>
#include <exchange/net/executor_traits.hpp>
#include <exchange/net/transport/frame_transport.hpp>
#include <exchange/net/transport/secured_bytes.hpp>

#include <cstddef>
#include <memory>
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
    static constexpr bool can_be_secured = true;

    explicit packet_stream(const soup_framer_options& options) : framing_{options} {}
    explicit packet_stream(const transport_options& options)
        : framing_{options.framing}, security_{options.security} {}

    /// Carries on with another connection; what was pending of the one before is forgotten.
    void open(typename X::stream_socket socket, soup_end we = soup_end::server) {
        socket_ = std::move(socket);
        if (framer_) framer_->reset();
        else framer_.emplace(framing_);
        ends_ = false;
        if (security_ != nullptr) secured_.open(security_.get(), {we == soup_end::client, peer()});
    }

    /// Waits for bytes; give their number to `received`. Yields `io_result<std::size_t>`.
    ///
    /// Errors, cancellation, threads, cost:  those of the socket's `read_some`.
    [[nodiscard]] auto receive() noexcept {
        return socket_.read_some(secured_ ? secured_->space() : framer_->space());
    }
    void received(std::size_t size) noexcept {
        if (secured_) secured_->received(size);
        else framer_->received(size);
    }

    /// As `receive`, but for bytes to be ignored, which nobody decrypts.
    [[nodiscard]] auto discard() noexcept {
        framer_->reset();
        return socket_.read_some(framer_->space());
    }
    void discarded(std::size_t) noexcept {}

    /// Errors:  those of the framer; `broken_transport` of what secures it.
    [[nodiscard]] soup_framed next() noexcept {
        soup_framed framed = framer_->next();
        if (!secured_) return framed;
        while (!framed.complete && framed.ending == soup_ending::none) {
            const std::size_t size = secured_->read(framer_->space());
            if (size == 0) break;
            framer_->received(size);
            framed = framer_->next();
        }
        if (!framed.complete && secured_->failed())
            return {.ending = soup_ending::broken_transport};
        return framed;
    }
    /// Has the packets that are here entirely, borrowed until the next `receive`. Not of a secured one.
    [[nodiscard]] soup_framer& framer() noexcept { return *framer_; }

    /// The end of the stream is told by `receive`, unless it is secured.
    [[nodiscard]] bool ended() const noexcept { return secured_ && secured_->ended(); }
    /// Was there no agreement on how to secure it?
    [[nodiscard]] bool refused() const noexcept { return secured_ && secured_->refused(); }
    [[nodiscard]] bool owes() const noexcept { return secured_.owes(); }
    [[nodiscard]] bool ready(const soup_output& packets) const noexcept {
        return (packets.size() > 0 && secured_.passes() && !ends_) || owes();
    }

    /// Writes some of `packets`, whose memory is borrowed. Yields `io_result<std::size_t>`.
    ///
    /// Errors, cancellation, threads, cost:  those of the socket's `write_some`.
    [[nodiscard]] auto send(const soup_output& packets) noexcept {
        return socket_.write_some(secured_.offer(packets.buffers()));
    }
    [[nodiscard]] std::size_t sent(std::size_t size) noexcept {
        const std::size_t taken = secured_.sent(size);
        if (ends_ && !owes()) end_sending();
        return taken;
    }

    /// Nothing more is sent; the peer reads the end behind what was.
    void finish(soup_ending why = soup_ending::none) noexcept {
        ends_ = true;
        if (secured_) secured_->finish(why);
        if (!owes()) end_sending();
    }

    /// Ends both directions now: not even what is being written leaves any more. Waits end.
    void cut() noexcept { static_cast<void>(socket_.shutdown(gyre::shutdown_side::both)); }

    void close() noexcept { static_cast<void>(socket_.close()); }

    /// Gives the framer's memory back. No read is pending.
    void release() noexcept {
        framer_.reset();
        secured_.release();
    }

    /// Where the other end is; nowhere if that is not known any more.
    [[nodiscard]] gyre::endpoint peer() const noexcept {
        const auto [unknown, where] = socket_.remote_endpoint();
        return unknown ? gyre::endpoint{} : where;
    }
    [[nodiscard]] bool is_open() const noexcept { return socket_.is_open(); }
    [[nodiscard]] bool opened() const noexcept { return secured_.passes(); }
    [[nodiscard]] std::string_view name() const noexcept {
        return security_ != nullptr ? "soup, TLS" : "soup";
    }
    [[nodiscard]] std::size_t frame_bytes_max() const noexcept {
        return framing_.payload_bytes_max;
    }

private:
    void end_sending() noexcept { static_cast<void>(socket_.shutdown(gyre::shutdown_side::send)); }

    typename X::stream_socket socket_;
    soup_framer_options framing_;
    std::shared_ptr<channel_security> security_;
    std::optional<soup_framer> framer_;  // From `open` to `release`.
    secured_bytes secured_;
    bool ends_ = false;  // Nothing more is sent.
};

}  // namespace exchange
