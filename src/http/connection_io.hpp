// SPDX-License-Identifier: BSL-1.0
//
// The two buffers of a connection of HTTP/1, and how they are filled and emptied within limits of time.
//
// Server and client share it, and the framing of bodies upon it: framed_source and framed_sink.
#pragma once

#include <gyre/base/time.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/http/body_reader.hpp>
#include <gyre/http/body_writer.hpp>
#include <gyre/http/chunk_decoder.hpp>
#include <gyre/http/head_parser.hpp>
#include <gyre/stream/any_stream.hpp>
#include <gyre/stream/flat_buffer.hpp>
#include <gyre/stream/silence.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/timeout.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace gyre::http {

/// The memory for reading: at least a byte at first, and at most a head of the greatest size with the empty
/// line that may stand before it.
[[nodiscard]] inline buffer_bounds room_for_heads(std::size_t bytes_first,
                                                  std::size_t head_bytes_max) noexcept {
    constexpr std::size_t beside = 16;
    const std::size_t most = std::min(head_bytes_max, SIZE_MAX - beside) + beside;
    return {std::clamp<std::size_t>(bytes_first, 1, most), most};
}

/// A stream, what was read of it and not consumed, and what is to be written to it.
class connection_io {
public:
    struct limits {
        buffer_bounds in;
        std::size_t out_bytes_max;           ///< What is collected before it is written.
        duration silence_max;                ///< Of the peer, inside of a body.
        duration write_time_max;             ///< For the peer to take anything.
        std::uint64_t bytes_per_second_min;  ///< Beyond these two; 0: any.
    };

    connection_io(any_stream on, const limits& bounds) noexcept
        : stream{std::move(on)}, in{bounds.in}, bounds_{bounds} {
        idle_.set();
        ahead_done.set();
    }

    /// Writes all of `out`, then `more` and `behind`. If another flush is under way, after that. Errors:
    /// those of the stream; `errc::timed_out`; `errc::broken_pipe` after one that was stopped within `more`.
    /// Stopped within `out`, it leaves there what has not been written.
    [[nodiscard]] task<io_result<>> flush(const_buffer more = {}, const_buffer behind = {});

    /// One write of `out`, which `wrote` is told of: for what is mostly written at once. It waits for a part
    /// of `write_time_max` only, so `errc::timed_out` means that `flush` is to go on. Not while a flush is
    /// under way.
    [[nodiscard]] limited<any_write_awaiter> write_out(time_point now) noexcept;
    /// True if nothing is left to be written.
    [[nodiscard]] bool wrote(const io_result<std::size_t>& put) noexcept;

    /// Whether a flush is under way: `out` is not to be touched then.
    [[nodiscard]] bool flushing() const noexcept { return !idle_.is_set(); }

    /// Gives back what rare large messages have taken: thousands of connections that are idle have little.
    /// @pre  both buffers are empty.
    void rest() noexcept;

    [[nodiscard]] const limits& bounds() const noexcept { return bounds_; }
    [[nodiscard]] bool has_room_for(std::size_t size) const noexcept {
        return out.size() < bounds_.out_bytes_max && size <= bounds_.out_bytes_max - out.size();
    }

    any_stream stream;
    flat_buffer in;
    std::string out;
    error ended;  ///< How the peer's direction has ended, if `watch_peer` has seen it.
    bool takes_nothing = false;  ///< A write has found that the peer is gone.
    event ahead_done;            ///< Set while `watch_peer` does not read: one reads at a time.
    limit_timer read_timer;
    limit_timer write_timer;

private:
    void note_failure(error failed, std::span<const const_buffer, 3> unsent) noexcept;
    void note_broken(error failed) noexcept;

    limits bounds_;
    event idle_;    // Set while no flush is under way.
    error broken_;  // Why nothing more can be written.
};

/// From a drain on: for a connection's first request. A client that has just connected has sent it, or is
/// about to, and does not try again where it meets an end.
inline constexpr duration first_request_wait = std::chrono::seconds{1};

/// After a stop: for what leaves by itself, with the loop's next turns. A peer that makes no room by then is
/// given up.
inline constexpr duration wait_when_stopped = std::chrono::milliseconds{100};

/// Ends our side of a stream in order, for one that is closed next: a peer behind TLS reads an end, and no
/// cut. What was written before leaves as well, so it takes until the peer has room for that, `limit` at
/// most; the peer's own end is not waited for. After a stop there is time for what needs no waiting.
[[nodiscard]] task<> say_end(any_stream& to, duration limit);

/// Ends our side of a stream that is closed next while its peer may send: closing a socket with bytes unread
/// resets it, and the reset may overtake what was written last. So what comes is dropped, however much it is,
/// until the peer ends as well, for `limit` at most.
///
/// Errors: those of ending our side. Cancellation: as if the limit were over. Cost: a buffer of 64 KiB.
[[nodiscard]] task<io_result<>> end_and_drop_rest(any_stream& to, duration limit);

/// What a peer may take for something that has no end: silent for so long at most, and no slower in all than
/// a rate, however it spreads its bytes. Only time that was spent waiting for it counts.
class pace {
public:
    pace(duration silence_max, std::uint64_t bytes_per_second_min) noexcept
        : silence_{silence_max}, rate_{bytes_per_second_min} {}

    /// How long the next wait may be; after one that transfers nothing comes another, unless it is `over`.
    [[nodiscard]] duration patience() const noexcept {
        return std::clamp(allowance(), duration{}, silence_.patience());
    }

    void count(duration waited, std::size_t bytes, const any_stream& of) noexcept {
        waited_ += waited;
        bytes_ += bytes;
        silence_.count(waited, bytes > 0, of);
    }

    [[nodiscard]] bool over() const noexcept {
        return silence_.over() || allowance() <= duration{};
    }

private:
    [[nodiscard]] duration allowance() const noexcept;

    silence_watch silence_;
    std::uint64_t rate_;
    duration waited_{};
    std::uint64_t bytes_ = 0;
};

/// The body of the message that is being read.
class framed_source final : public body_source {
public:
    framed_source(connection_io& io, chunk_limits chunks) noexcept
        : io_{&io},
          chunks_{chunks},
          pace_{io.bounds().silence_max, io.bounds().bytes_per_second_min} {}

    /// What begins from now on is of another connection.
    void attach(connection_io& io) noexcept { io_ = &io; }

    /// A body begins.
    ///
    /// @param  continues  Whether the peer waits for "100 Continue".
    void begin(body_framing framing, std::uint64_t bytes_max, bool continues) noexcept;

    [[nodiscard]] std::optional<io_result<std::size_t>> try_read(
        mutable_buffer into) noexcept override;
    [[nodiscard]] task<io_result<std::size_t>> read(mutable_buffer into) override;
    [[nodiscard]] std::optional<std::uint64_t> size() const noexcept override;
    [[nodiscard]] bool ended() const noexcept override { return ended_; }
    [[nodiscard]] const fields& trailers() const noexcept override { return trailers_; }

    /// Drops what is at hand, up to `bytes_max`; false if more than that has come.
    [[nodiscard]] bool drop_at_hand(std::uint64_t& bytes_max) noexcept;

    /// What is certain to come still: of a body with a length.
    [[nodiscard]] std::uint64_t known_left() const noexcept { return left_; }

    /// Whether all that is left of it has come.
    [[nodiscard]] bool is_at_hand() const noexcept;

    /// Whether the peer still waits for "100 Continue".
    [[nodiscard]] bool holds_peer() const noexcept { return continue_due_; }

    /// Tells it to go on, in front of what is to be written next.
    void let_go_of_peer();

    /// The peer has been told that its body is not wanted: there is nothing to read any more.
    void give_up() noexcept {
        continue_due_ = false;
        static_cast<void>(fail({errc::closed, activity::read}));
    }

    /// What its framing got wrong, if anything, and what else ended it too early.
    [[nodiscard]] refusal why() const noexcept { return chunks_.why(); }
    [[nodiscard]] error failure() const noexcept { return failed_; }

    /// Whether somebody waits for bytes of the body.
    [[nodiscard]] bool reading() const noexcept { return reading_; }

    /// Answers may stand in `out` that the peer has to see before it is waited for.
    bool flushes_before_waiting = true;

    event over;  ///< Nothing more is read of the body: it has ended, or failed.

private:
    [[nodiscard]] io_result<std::size_t> fail(error why) noexcept;
    [[nodiscard]] std::optional<io_result<std::size_t>> count(std::size_t size) noexcept;
    [[nodiscard]] std::optional<io_result<std::size_t>> take_chunked(mutable_buffer into) noexcept;
    [[nodiscard]] std::size_t direct_max(std::size_t wanted) const noexcept;
    void note_direct(std::size_t size) noexcept;
    [[nodiscard]] task<io_result<>> before_waiting();
    [[nodiscard]] bool has_to_write_first() const noexcept;
    [[nodiscard]] bool is_only_slow(error why) const noexcept;
    [[nodiscard]] task<io_result<>> wait_for_read_ahead();
    [[nodiscard]] io_result<std::size_t> ended_by(const io_result<std::size_t>& got) noexcept;
    void end() noexcept {
        ended_ = true;
        over.set();
    }

    connection_io* io_;
    chunk_decoder chunks_;
    pace pace_;
    body_framing framing_;
    std::uint64_t left_ = 0;          // Of a body with a length.
    std::uint64_t allowed_left_ = 0;  // Of what a body may have.
    bool continue_due_ = false;
    bool ended_ = true;
    bool reading_ = false;
    error failed_;
    fields trailers_;
};

/// The body of the message that is being written.
class framed_sink final : public body_sink {
public:
    explicit framed_sink(connection_io& io) noexcept : io_{&io} {}

    /// What begins from now on is of another connection.
    void attach(connection_io& io) noexcept { io_ = &io; }

    enum class mode : std::uint8_t { length, chunked, until_close };

    /// A body begins behind the head in `out`.
    ///
    /// @param  trailers  Borrowed.
    void begin(mode how, std::uint64_t length, fields& trailers) noexcept;

    [[nodiscard]] std::optional<io_result<std::size_t>> try_write(
        const_buffer from) noexcept override;
    [[nodiscard]] task<io_result<std::size_t>> write(const_buffer from) override;
    [[nodiscard]] task<io_result<>> flush() override;
    [[nodiscard]] fields& trailers() noexcept override { return *trailers_; }

    /// The producer has ended: the rest is in `out` now. `errc::malformed` if it has written less than it
    /// had declared.
    [[nodiscard]] io_result<> end();

    /// The producer has failed: `out` ends with what it has written, and lacks the body's end.
    void cut() noexcept { close_chunk(); }

    /// Bytes of the body that it has taken.
    [[nodiscard]] std::uint64_t written() const noexcept { return written_; }

    /// Whether it has neither written nor flushed anything.
    [[nodiscard]] bool untouched() const noexcept { return untouched_; }

private:
    void open_chunk();
    void close_chunk() noexcept;
    void append(const_buffer from);
    [[nodiscard]] bool exceeds(const_buffer from) const noexcept {
        return mode_ == mode::length && from.size() > left_;
    }

    static constexpr std::size_t direct_min = 16 * 1024;  // Bytes that are not worth a copy.

    connection_io* io_;
    mode mode_ = mode::length;
    std::uint64_t left_ = 0;
    fields* trailers_ = nullptr;
    std::size_t chunk_at_ = 0;  // Of `out`: where the size of the open chunk stands.
    bool chunk_open_ = false;
    bool untouched_ = true;
    std::uint64_t written_ = 0;
};

}  // namespace gyre::http
