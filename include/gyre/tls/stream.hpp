// SPDX-License-Identifier: BSL-1.0
//
// TLS on any stream, as a stream.
//
// It obeys the laws of streams, so a protocol above it does not know that it is encrypted. Beyond them it can
// tell a peer that has finished from a connection that was cut, and it ends in order within a limit.
// tls/engine.hpp does the cryptography, and knows the peer's names and certificates.
#pragma once

#include <gyre/base/buffer.hpp>
#include <gyre/base/exception.hpp>
#include <gyre/base/result.hpp>
#include <gyre/base/time.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/stream/any_stream.hpp>
#include <gyre/sync/waiters.hpp>
#include <gyre/tls/engine.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

namespace gyre::tls {

/// Runs `work` somewhere, once; the task ends after that, or without it if it was stopped before it began.
/// It must not be destroyed while `work` runs.
using offload = std::function<task<>(std::function<void()> work)>;

/// The limits of time of a TLS stream, and where the steps of its handshake run.
struct stream_options {
    stream_options() = default;  // No aggregate: see docs/guide/compilers.md.

    duration handshake_wait = std::chrono::seconds{10};  ///< For all of the handshake.
    duration alert_wait = std::chrono::seconds{1};       ///< To send why a handshake has failed.
    duration close_wait = std::chrono::seconds{5};  ///< For the peer's close_notify, in `finish`.
    std::size_t discarded_bytes_max = std::size_t{1}
                                      << 20;  ///< That a peer may still send meanwhile.

    /// Of a client: a protocol of its context's that this connection does not offer by ALPN, as "h2" for one
    /// that is going to be a WebSocket.
    std::string protocol_left_out;

    /// Where the steps of a handshake are computed: on the loop if empty. A signature with RSA takes about a
    /// millisecond, in which the loop does nothing else. Callbacks of the context run there, too.
    tls::offload handshake_steps;
};

/// What a stream and its operations share. Output is sent by an operation that belongs to none of them: what
/// is encrypted cannot be taken back when a write is stopped, and `shutdown_send` awaits nothing.
class stream_state : private callback_frame {
public:
    stream_state(any_stream transport, engine connection, stream_options chosen) noexcept;
    stream_state(const stream_state&) = delete;
    stream_state& operator=(const stream_state&) = delete;
    ~stream_state();

    /// Where output is sent from now on.
    void remember(const environment& given) noexcept;
    /// Begins to send what there is of output, unless that is under way.
    void flush() noexcept;
    void close() noexcept;

    [[nodiscard]] bool sending() const noexcept { return sending_; }

    /// Also of bytes of records that are not whole yet.
    [[nodiscard]] std::uint64_t traffic() const noexcept { return moved + below.traffic(); }

    any_stream below;
    engine tls;
    const stream_options options;
    waiters drained;  // For the end of sending.
    error send_failure;
    std::uint64_t moved = 0;                    // Bytes from and to the transport.
    std::optional<io_result<>> handshake_step;  // What the last one came to.
    bool ready = false;  // The handshake has ended well, and the loop has it.
    bool reading = false;
    bool writing = false;
    bool said_end = false;  // `shutdown_send` was called.
    bool closed = false;

private:
    void send() noexcept;
    void take_written() noexcept;

    environment home_;  // Invariant: unchanged while it is sending.
    stop_chain chain_;  // Never stopped.
    std::optional<any_write_awaiter> write_;
    bool sending_ = false;
};

/// Waits until nothing is left to send, or nothing more can be sent.
class [[nodiscard]] drained_awaiter final : public waiter {
public:
    explicit drained_awaiter(std::shared_ptr<stream_state> of) noexcept
        : waiter{"TLS output"}, of_{std::move(of)} {}

    [[nodiscard]] bool await_suspend(std::coroutine_handle<> handle,
                                     const environment* given) noexcept;
    [[nodiscard]] io_result<> await_resume() const noexcept { return outcome(); }

private:
    std::shared_ptr<stream_state> of_;
};

/// Made by `stream::read_some`.
class [[nodiscard]] read_awaiter final
    : public repeated<read_awaiter, either_step<any_read_awaiter, drained_awaiter>> {
public:
    using step_type = either_step<any_read_awaiter, drained_awaiter>;

    read_awaiter(std::shared_ptr<stream_state> of, mutable_buffer into) noexcept
        : of_{std::move(of)}, into_{into} {}
    read_awaiter(read_awaiter&&) noexcept = default;
    ~read_awaiter() { end(); }

    [[nodiscard]] bool await_suspend(std::coroutine_handle<> waiter,
                                     const environment* given) noexcept;
    [[nodiscard]] io_result<std::size_t> await_resume();

    [[nodiscard]] bool over() noexcept { return over_; }
    [[nodiscard]] step_type step() noexcept;
    [[nodiscard]] bool take(io_result<std::size_t> ended) noexcept;

private:
    // Whether the read is over.
    [[nodiscard]] bool begin(const environment& given) noexcept;
    [[nodiscard]] bool attempt() noexcept;
    [[nodiscard]] bool finish(io_result<std::size_t> with) noexcept;
    void end() noexcept;

    std::shared_ptr<stream_state> of_;
    mutable_buffer into_;
    io_result<std::size_t> result_;
    bool over_ = false;
    bool mine_ = false;  // The stream's one read is this one.
};

/// Made by `stream::write_some` and by message writers.
class [[nodiscard]] write_awaiter final : public waiter {
public:
    write_awaiter(std::shared_ptr<stream_state> of, const_buffer from) noexcept
        : waiter{"TLS write"}, of_{std::move(of)}, only_{from} {}
    write_awaiter(std::shared_ptr<stream_state> of, const_buffers from,
                  std::size_t skipped) noexcept
        : waiter{"TLS write"}, of_{std::move(of)}, list_{from}, skipped_{skipped} {}
    write_awaiter(write_awaiter&&) noexcept = default;
    ~write_awaiter() { end(); }

    [[nodiscard]] bool await_suspend(std::coroutine_handle<> handle,
                                     const environment* given) noexcept;
    [[nodiscard]] io_result<std::size_t> await_resume() noexcept;

private:
    [[nodiscard]] error refusal() const noexcept;
    [[nodiscard]] bool is_empty() const noexcept;
    void put() noexcept;
    void end() noexcept;

    std::shared_ptr<stream_state> of_;
    const_buffer only_;
    const_buffers list_;
    std::size_t skipped_ = 0;
    io_result<std::size_t> result_;
    bool mine_ = false;  // The stream's one write is this one, and it waits.
};

class stream_message_writer;

/// A stream on TLS. Moves while nothing is pending; destroying it closes it.
///
/// One read and one write at a time, also both at once; on one loop or strand, that of the transport, which
/// outlives it.
class stream {
public:
    using message_writer = stream_message_writer;

    stream() noexcept = default;  ///< Closed.

    /// @param  below       Owned. Any stream that keeps bytes in order.
    /// @param  connection  Owned. As `engine::client` and `engine::server` make it; it may have been driven
    ///                     before, but for output that it was told to be sent.
    stream(any_stream below, engine connection, stream_options options = {});
    stream(stream&&) noexcept = default;
    stream& operator=(stream&& other) noexcept;
    ~stream() { close(); }

    /// Agrees with the peer; before that nothing is read or written. Again: ok at once.
    ///
    /// Errors:        those of `engine::handshake`, `connection().failure()` has the details; of the
    ///                transport; `errc::timed_out` after `handshake_wait`; `errc::closed`.
    /// Cancellation:  `errc::canceled`; only close follows.
    /// Threads:       resumes on the caller's executor; its steps run where `handshake_steps` says.
    /// Cost:          two frames; one to three milliseconds of computing, or a tenth for a resumed session.
    [[nodiscard]] task<io_result<>> handshake();

    /// As any stream: see stream/concepts.hpp. And besides:
    ///
    /// Errors:        `errc::eof` only after the peer's close_notify; `errc::tls_truncated` if the transport
    ///                ended without, or what sending earlier writes has met if that came before: the peer is
    ///                told of an end then, and may only have answered it; `errc::tls_malformed`,
    ///                `errc::tls_alert`: see `connection().failure()`; `errc::busy` while another read is
    ///                pending; `errc::not_connected` before the handshake has ended.
    /// Cancellation:  `errc::canceled`; nothing was taken from the stream.
    /// Threads:       resumes on the caller's executor.
    /// Cost:          no frame, no allocation; two copies, one of which decrypts. At once if bytes are there.
    [[nodiscard]] read_awaiter read_some(read_space into) noexcept { return {state_, into}; }

    /// Encrypts up to 48 KiB and begins to send them. It is done when they are encrypted; another write waits
    /// until they are sent, and so does `finish`. Destroying the stream drops what is not. An empty write is
    /// done at once; after `shutdown_send`, when all that was said has been sent, close_notify included.
    ///
    /// Errors:        `errc::broken_pipe` after `shutdown_send`; what sending earlier writes has met;
    ///                `errc::busy` while another write is pending; `errc::not_connected` as above.
    /// Cancellation:  `errc::canceled`; nothing was taken.
    /// Threads:       resumes on the caller's executor.
    /// Cost:          no frame; a block of 52 KiB while bytes are under way, the thread's own as a rule; a
    ///                copy that encrypts, another one to the transport's buffer.
    [[nodiscard]] write_awaiter write_some(const_buffer from GYRE_LIFETIMEBOUND) noexcept {
        return {state_, from};
    }
    /// The same from several buffers, in as few records and writes of the transport; small ones are copied
    /// once more for that. The first `skipped` bytes are left out.
    [[nodiscard]] write_awaiter write_some(const_buffers from, std::size_t skipped = 0) noexcept {
        return {state_, from, skipped};
    }

    /// Where output is sent if nothing was awaited yet: an engine that was driven before may have some, and
    /// `shutdown_send` awaits nothing. Without it, both begin with the first operation.
    void send_from(const environment& home) noexcept;

    /// Tells the peer that nothing follows (close_notify); it reads `errc::eof`, and may go on to send. The
    /// transport is left open in both directions.
    ///
    /// Errors: `errc::closed`; `errc::not_connected` as above; what sending has met.
    io_result<> shutdown_send() noexcept;

    /// See `traffic_stream`: bytes of a record count that is not whole yet, in either direction.
    [[nodiscard]] std::uint64_t traffic() const noexcept {
        return state_ != nullptr ? state_->traffic() : 0;
    }

    /// Ends in order: says close_notify, sends all that was written, waits for the peer's, and closes. What
    /// the peer still sends is thrown away.
    ///
    /// Errors:        `errc::timed_out` if the peer has not answered within `close_wait`;
    ///                `errc::tls_truncated` if it closed the transport instead: what it sent may have been
    ///                cut short; `errc::limit_exceeded` if it goes on to send; those of reads and writes. It
    ///                is closed in every case.
    /// Cancellation:  `errc::canceled`, closed.
    /// Threads:       resumes on the caller's executor.
    /// Cost:          two frames and a block of 4 KiB.
    [[nodiscard]] task<io_result<>> finish();

    /// Ends both directions at once and destroys the transport; the peer reads `errc::tls_truncated`, unless
    /// it was told before. @pre  what is pending may be, if the transport allows that.
    void close() noexcept;

    /// What is known of connection and peer: names, versions, certificates, keys, why it failed. While
    /// a handshake is pending it is not to be looked at.
    [[nodiscard]] const engine& connection() const noexcept;

private:
    friend stream_message_writer;

    std::shared_ptr<stream_state> state_;
};

/// Writes one message: its buffers are gathered. Nothing keeps other writers off, who are refused while one
/// waits.
class stream_message_writer {
public:
    explicit stream_message_writer(stream& to) noexcept : state_{to.state_} {}

    [[nodiscard]] write_awaiter write_some(const_buffer from GYRE_LIFETIMEBOUND) noexcept {
        return {state_, from};
    }
    [[nodiscard]] write_awaiter write_some(const_buffers from, std::size_t skipped) noexcept {
        return {state_, from, skipped};
    }
    void end() noexcept {}

private:
    std::shared_ptr<stream_state> state_;
};

static_assert(duplex_stream<stream>);
static_assert(half_closing_stream<stream>);

/// A client's stream: makes one and shakes hands.
///
/// @param  below     Owned.
/// @param  settings  Copied.
/// @param  host      Copied; see `engine::client`.
/// @return The stream; after an error it is closed, and its `connection().failure()` tells the details.
///
/// Errors:        those of `engine::client` and `stream::handshake`.
/// Cancellation:  `errc::canceled`.
/// Threads:       resumes on the caller's executor.
/// Cost:          those of the handshake, and the stream's block.
[[nodiscard]] task<io_result<stream>> connect(any_stream below, const context& settings,
                                              std::string_view host, stream_options options = {});

/// The same for a server. Errors: those of `engine::server` and `stream::handshake`.
[[nodiscard]] task<io_result<stream>> accept(any_stream below, const context& settings,
                                             stream_options options = {});

}  // namespace gyre::tls
