// SPDX-License-Identifier: BSL-1.0
//
// A WebSocket on any stream, after its opening handshake: messages in both directions, until either end
// closes.
//
// One coroutine receives, any number send. Pings are answered, silence is noticed and a close is answered
// while a receive is under way, so a program keeps one under way; there is no task behind its back. The
// rules of the protocol are in frame_parser.hpp, the handshake in handshake.hpp, broadcasting in hub.hpp.
#pragma once

#include <gyre/base/buffer.hpp>
#include <gyre/base/result.hpp>
#include <gyre/base/time.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/stream/any_stream.hpp>
#include <gyre/stream/flat_buffer.hpp>
#include <gyre/stream/outbox.hpp>
#include <gyre/sync/deadline.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/mutex.hpp>
#include <gyre/websocket/close_code.hpp>
#include <gyre/websocket/deflate.hpp>
#include <gyre/websocket/frame_parser.hpp>
#include <gyre/websocket/handshake.hpp>
#include <gyre/websocket/masking.hpp>
#include <gyre/websocket/message_buffer.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace gyre::websocket {

/// The bounds of a WebSocket: sizes of messages, silence, and the time that writes and a close may take.
struct connection_options {
    connection_options() noexcept = default;

    parse_limits limits;  ///< Of what is received; `message_bytes_max` also when it is inflated.
    deflate_options deflate;  ///< How to compress, if that was agreed.

    duration ping_interval =
        std::chrono::seconds{30};  ///< Silence after which the peer is asked; 0: never.
    duration pong_timeout =
        std::chrono::seconds{20};  ///< Silence after that which ends the connection.
    duration write_timeout = std::chrono::seconds{30};  ///< A write without any progress.
    // Each byte that moves counts for these two, also of a TLS record that is not whole yet, and those that
    // the peer takes of what was written before.
    duration close_timeout = std::chrono::seconds{5};  ///< All of a close, each way.

    std::size_t read_bytes_first =
        4096;  ///< Memory for what comes, in a connection that is idle; 256 or more.
    std::optional<masking_keys::seed>
        masking_seed;  ///< For tests: the keys of a client follow from it.
};

/// A message: received, its bytes are the connection's until its next receive; to be sent, they are borrowed.
struct message {
    message_kind kind = message_kind::binary;
    const_buffer bytes;

    [[nodiscard]] std::string_view text() const noexcept { return text_of(bytes); }
};

/// A part of a message; not one frame of it, but what has come.
struct fragment {
    message_kind kind = message_kind::binary;
    const_buffer bytes;  ///< May be empty at the end. Of a text it may end within a character.
    bool first = false;  ///< A message begins with it.
    bool last = false;   ///< It ends with it.
};

class message_writer;

/// The connection. Belongs to one loop; does not move. Nothing may be pending on it when it is destroyed.
///
/// What its functions return refers to it, so it outlives every await.
class connection {
public:
    /// @param  on      Owned: the stream, behind the handshake.
    /// @param  we      Which end this is.
    /// @param  agreed  What the handshake came to.
    /// @param  early   Copied: what was read behind the handshake already.
    /// Cost:  one or two allocations; with compression more, from the first compressed message on.
    connection(any_stream on, role we, websocket::agreement agreed, const_buffer early = {},
               const connection_options& options = {});
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;

    /// The next message as a whole.
    ///
    /// @return Its bytes: where it came in one frame that was not compressed, those that were read.
    ///
    /// Errors:        `errc::eof` when the peer has closed: `peer_close()` says why;
    ///                `errc::connection_aborted` if its stream ended without that; `errc::protocol_error`,
    ///                `errc::malformed` and `errc::limit_exceeded` for what the peer must not send, of
    ///                which `broken_rule()` tells more and the peer has been told; `errc::timed_out` if it
    ///                was silent too long, or did not take an answer to a ping in time; those of the
    ///                stream. Each of them is the end, and every later call tells the same. `errc::busy`
    ///                while another receive is pending.
    /// Cancellation:  `errc::canceled`; nothing is lost, and the next call goes on there. Only where a stop
    ///                meets an answer that is written in part, nothing can be sent after that.
    /// Threads:       resumes on the caller's executor.
    /// Cost:          four frames from the frame cache, a read if there is no message in memory; memory
    ///                for what has come of the message, at most `limits.message_bytes_max`.
    [[nodiscard]] task<io_result<message>> receive();

    /// The next message, as `receive` yields it, and those that have come whole behind it. Where many small
    /// messages come together this costs once what `receive` costs for each.
    ///
    /// @param  into  Memory for them; borrowed until completion. Not empty.
    /// @return Those messages, at the front of `into`. All of their bytes are valid until the next receive.
    ///
    /// Errors, cancellation, threads:  as `receive`; a message that is wrong is left to the next receive.
    /// Cost:          that of `receive`. A compressed message, or one of several frames, ends a batch.
    [[nodiscard]] task<io_result<std::span<const message>>> receive_batch(std::span<message> into);

    /// What comes next of a message, or the beginning of the next one: for messages of any size in memory
    /// that is fixed. Errors and the rest as `receive`, which may follow and yields what is left of the
    /// message.
    [[nodiscard]] task<io_result<fragment>> receive_some();

    /// Sends a message.
    ///
    /// @param  payload  Borrowed until completion. Of a text, UTF-8.
    ///
    /// Errors:        `errc::malformed` if it is no UTF-8, and nothing was sent; `errc::closed` after a
    ///                close, ours or the peer's; `errc::timed_out` if the peer has taken nothing for
    ///                `write_timeout`; `errc::broken_pipe` after a message that was not sent to its end;
    ///                those of the stream.
    /// Cancellation:  `errc::canceled`. What was sent in part cannot be taken back, and nothing else can be
    ///                sent after that.
    /// Threads:       resumes on the caller's executor. Messages go out in the order of the calls.
    /// Cost:          two frames; a server's message is written from where it is, a client's through a
    ///                buffer of 16 KiB in which it is masked. Compression gives way after every 64 KiB.
    [[nodiscard]] task<io_result<>> send(message_kind kind, const_buffer payload);
    [[nodiscard]] task<io_result<>> send_text(std::string_view text) {
        return send(message_kind::text, bytes_of(text));
    }
    [[nodiscard]] task<io_result<>> send_binary(const_buffer bytes) {
        return send(message_kind::binary, bytes);
    }

    /// Sends messages in their order, together in as few writes as their size allows. Other messages may go
    /// between them.
    ///
    /// @param  batch  Borrowed until completion, with the bytes. May be empty.
    ///
    /// Errors:        as `send`. `errc::malformed` means that no message was sent.
    /// Cancellation:  `errc::canceled`. Unless nothing was sent, nothing else can be sent after that.
    /// Threads:       as `send`.
    /// Cost:          three frames, a copy of each byte, and 16 KiB from the first batch on. Where
    ///                compression was agreed, that of `send` for each message.
    [[nodiscard]] task<io_result<>> send_batch(std::span<const message> batch);

    /// Begins a message in fragments, whose length need not be known. Other messages wait for its end.
    ///
    /// Errors:        `errc::closed`, `errc::broken_pipe` as above.
    /// Cancellation:  `errc::canceled`; nothing was sent.
    /// Threads:       resumes on the caller's executor.
    /// Cost:          one frame.
    [[nodiscard]] task<io_result<message_writer>> begin_message(message_kind kind);

    /// Sends a ping of the program's own; answers to it are seen as signs of life and not told.
    ///
    /// @param  payload  Borrowed; at most `control_bytes_max`.
    /// Errors, Cancellation, Threads: as `send`. Cost: one frame.
    [[nodiscard]] task<io_result<>> ping(const_buffer payload = {});

    /// Sends what `from` holds until that is closed and empty: whole frames of a server, as
    /// prepared_message.hpp makes them; hub.hpp fills it. Other messages and answers go between them.
    ///
    /// @param  from  Borrowed; one writer at a time.
    ///
    /// Errors:        as `send`, and what `from` has failed with; either fails with the other.
    /// Cancellation:  `errc::canceled`; if that was within a message, nothing else can be sent.
    /// Threads:       the loop of the outbox and the connection.
    /// Cost:          three frames; a write gathers up to `buffers_per_call_max` messages.
    [[nodiscard]] task<io_result<>> send_from(outbox& from);

    /// Closes: says so, waits for the peer to say so, and ends the stream. Messages that come meanwhile are
    /// dropped, or told to a receive that is under way.
    ///
    /// @return Ok if the peer has answered, or has closed first.
    ///
    /// Errors:        `errc::timed_out` if it has not, within `close_timeout`; the stream is ended all the
    ///                same. What else had ended the connection before.
    /// Cancellation:  `errc::canceled`; destroying it is what is left. As a clean-up, `shielded` it.
    /// Threads:       resumes on the caller's executor.
    /// Cost:          three frames.
    [[nodiscard]] task<io_result<>> close(close_reason why = close_code::normal);

    [[nodiscard]] const websocket::agreement& agreement() const noexcept { return agreed_; }
    /// What the peer's close frame said; `close_code::abnormal` if none has come.
    [[nodiscard]] const close_reason& peer_close() const noexcept { return peer_close_; }
    /// Which rule the peer has broken, if that ended the connection.
    [[nodiscard]] violation broken_rule() const noexcept { return broken_rule_; }
    /// What ended the connection, if anything has.
    [[nodiscard]] error failure() const noexcept { return failure_; }

private:
    friend class message_writer;

    // What next_piece has put at the end of the message.
    struct piece {
        message_kind kind = message_kind::binary;
        bool first = false;
        bool last = false;
    };
    // A part of a compressed message that is in raw(), without its mask, and not inflated yet.
    struct deflated_part {
        std::size_t bytes = 0;
        bool open = false;
        bool last = false;
        message_kind kind = message_kind::binary;
    };

    // While a receive is under way.
    class receiving {
    public:
        explicit receiving(connection& on) noexcept : on_{on} {
            on_.receiving_ = true;
            on_.not_receiving_.reset();
        }
        receiving(const receiving&) = delete;
        receiving& operator=(const receiving&) = delete;
        ~receiving() {
            on_.receiving_ = false;
            on_.not_receiving_.set();
        }

    private:
        connection& on_;
    };

    // Receiving: connection_receive.cpp.
    [[nodiscard]] error begin_receive(loop& on) noexcept;
    void drop_delivered() noexcept;
    [[nodiscard]] const_buffer received() const noexcept;
    [[nodiscard]] std::size_t take_whole(std::span<message> into) noexcept;
    [[nodiscard]] task<io_result<piece>> next_piece(std::size_t inflated_bytes_max);
    [[nodiscard]] task<io_result<parsed>> next_payload();
    [[nodiscard]] violation inflate_some(std::size_t bytes_max) noexcept;
    [[nodiscard]] task<io_result<>> read_more();
    [[nodiscard]] task<io_result<>> take_control(parsed what);
    [[nodiscard]] task<io_result<>> break_off(violation why);
    [[nodiscard]] task<io_result<>> alarmed();
    [[nodiscard]] std::size_t take_early(mutable_buffer into) noexcept;
    void heard() noexcept;
    [[nodiscard]] bool waits_on() noexcept;
    error fail(error why) noexcept;

    // Closing: connection.cpp.
    [[nodiscard]] task<io_result<>> wait_for_close(time_point until);
    [[nodiscard]] task<io_result<>> end_stream(time_point until);
    [[nodiscard]] task<io_result<>> drop_rest();
    void abort_writes() noexcept;

    // Sending: connection_send.cpp.
    [[nodiscard]] error send_refusal() const noexcept;
    [[nodiscard]] bool compresses(std::size_t bytes) const noexcept;
    [[nodiscard]] deflater& our_deflater() noexcept;
    [[nodiscard]] task<> deflate_piece(const_buffer payload, piece_end end);
    [[nodiscard]] task<io_result<>> send_frame(frame_header header, const_buffer payload);
    [[nodiscard]] task<io_result<>> send_close(close_reason why);
    [[nodiscard]] task<io_result<>> answer_ping();
    [[nodiscard]] task<io_result<>> ask_peer();
    [[nodiscard]] task<io_result<>> pump(outbox::writing& messages);
    // With `frames_` held.
    [[nodiscard]] task<io_result<>> put_frame(frame_header header, const_buffer payload);
    [[nodiscard]] mutable_buffer gathered();
    [[nodiscard]] frame_header masked(frame_header header) noexcept;
    [[nodiscard]] task<io_result<std::size_t>> put_copied(frame_header header,
                                                          const_buffer payload);
    [[nodiscard]] task<io_result<>> put_batch(std::span<const message> batch);
    [[nodiscard]] task<io_result<std::size_t>> put(const_buffers parts);
    [[nodiscard]] task<io_result<std::size_t>> put_some(any_message_writer& writer,
                                                        const_buffers parts, std::size_t skipped);
    [[nodiscard]] task<io_result<>> put_pong();
    void note_sent(std::size_t bytes, error why) noexcept;

    any_stream stream_;
    const connection_options options_;
    const websocket::agreement agreed_;
    const role we_;

    frame_parser parser_;
    message_buffer buffer_;
    std::vector<std::byte> early_;  // Read before anything of the stream; from `early_used_` on.
    std::size_t early_used_ = 0;
    std::optional<inflater> inflater_;
    flat_buffer inflated_;
    std::uint64_t message_inflated_ =
        0;  // Bytes of the message so far. Invariant: within the limit.
    utf8_validator inflated_text_;
    bool told_of_inflated_ = false;  // Something of the message.
    deflated_part part_;
    bool delivered_ =
        false;  // What is kept was told to the program, and is dropped at the next receive.
    bool receiving_ = false;
    bool asked_ = false;                    // A ping of ours, and nothing was heard since.
    std::optional<std::uint64_t> traffic_;  // Of the stream, at the last look after that.

    // Both belong to the loop of the first receive or send.
    std::optional<deadline> silence_;  // Of a receive: when to ask, or to give up.
    std::optional<deadline> stalled_;  // Of a write.
    event not_receiving_;

    mutex messages_;  // Held while a message is sent, from its first frame to its last.
    mutex frames_;    // Held while a frame is written.
    masking_keys keys_;
    std::unique_ptr<std::byte[]> gathered_;  // Copies of frames on their way out.
    std::optional<deflater> deflater_;
    flat_buffer deflated_;
    std::array<std::byte, control_bytes_max> pong_{};
    std::size_t pong_bytes_ = 0;
    bool pong_due_ = false;
    bool close_sent_ = false;
    bool close_received_ = false;
    bool aborted_ = false;       // No write begins any more.
    bool message_torn_ = false;  // A message in fragments was left; control frames may follow.
    error torn_;                 // A frame was left; nothing may follow.

    close_reason peer_close_{close_code::abnormal};
    violation broken_rule_ = violation::none;
    error failure_;
};

/// Sends one message in fragments; made by `begin_message`. Moves. Destroying it before `finish` leaves the
/// message without an end: no other can be sent then, and closing is what is left.
class message_writer {
public:
    message_writer() noexcept = default;  ///< Of no message.
    message_writer(message_writer&& other) noexcept;
    message_writer& operator=(message_writer&& other) noexcept;
    ~message_writer() { leave(); }

    /// Sends the next fragment, in a frame of its own. Errors and the rest as `connection::send`.
    ///
    /// @param  bytes  Borrowed until completion.
    /// @pre    neither finished nor moved from; so with `finish`.
    [[nodiscard]] task<io_result<>> write(const_buffer bytes);

    /// Sends the last one, which may be empty.
    [[nodiscard]] task<io_result<>> finish(const_buffer bytes = {});

private:
    friend class connection;

    message_writer(connection& on, mutex::guard turn, message_kind kind) noexcept;
    [[nodiscard]] task<io_result<>> send(const_buffer bytes, piece_end end);
    void leave() noexcept;

    connection* on_ = nullptr;  // Null when it is over.
    mutex::guard turn_;
    message_kind kind_ = message_kind::binary;
    bool begun_ = false;
    bool compressed_ = false;
    utf8_validator text_;
};

}  // namespace gyre::websocket
