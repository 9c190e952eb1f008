// SPDX-License-Identifier: BSL-1.0
//
// What waits to be written to one peer: bounded whatever that peer does, and written by one coroutine.
//
// A peer that reads slowly must cost a fixed amount of memory, and a policy says what else it costs: the
// time of those who send to it, its oldest messages, or its connection. Messages may have keys, of which
// only the newest is worth sending: prices, states, positions. What is queued goes out in gathered writes.
#pragma once

#include <gyre/base/result.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/stream/concepts.hpp>
#include <gyre/stream/shared_bytes.hpp>
#include <gyre/sync/waiters.hpp>
#include <gyre/sync/when_any.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace gyre {

/// What becomes of a message for which an outbox has no room.
enum class slow_consumer : std::uint8_t {
    wait,         ///< Its sender waits: back-pressure.
    drop_oldest,  ///< The oldest messages make room, but for what is being written.
    disconnect    ///< The outbox fails with `errc::limit_exceeded`, and so does its writer.
};

/// How much an outbox holds, and what becomes of a message beyond that.
struct outbox_options {
    outbox_options() noexcept = default;

    std::size_t bytes_max = std::size_t{1} << 20;  ///< Queued or being written; at least 1.
    std::size_t messages_max = 1024;               ///< The same; 1 to 2^31.
    slow_consumer when_full = slow_consumer::wait;
};

/// Says which of an outbox's bounds a message met.
enum class outbox_bound : std::uint8_t { none, bytes, messages };

/// What an outbox has counted since it was made.
struct outbox_counters {
    std::uint64_t written = 0;    ///< Messages that the stream took to their end.
    std::uint64_t writes = 0;     ///< Calls that it took them in.
    std::uint64_t dropped = 0;    ///< Messages that made room, or found none beside a long write.
    std::uint64_t conflated = 0;  ///< Messages that were replaced by a newer one of their key.
    std::size_t queued_bytes_max = 0;  ///< The most that were queued at a time.
};

/// The queue. Any number of senders and one writer at a time, all on one loop or one strand. Does not move;
/// must outlive its senders and its writer. It fails with its connection and keeps what is queued: a client
/// that connects anew goes on by `renew`.
class outbox {
public:
    /// Of what a message tells the newest state; any number that the program chooses.
    using key = std::uint64_t;

    explicit outbox(const outbox_options& options = {});

    class send_awaiter final : public waiter {
    public:
        send_awaiter(outbox& to, shared_bytes message, std::optional<key> of) noexcept
            : waiter{"outbox send"}, to_{to}, message_{std::move(message)}, key_{of} {}
        send_awaiter(send_awaiter&&) noexcept = default;
        ~send_awaiter() {
            if (abandon() == wait_state::waiting) to_.admit();
        }

        void request(stop_level level) noexcept override;
        [[nodiscard]] bool await_suspend(std::coroutine_handle<> handle,
                                         const environment* given) noexcept;
        io_result<> await_resume() const noexcept { return outcome(); }

    private:
        friend class outbox;

        outbox& to_;
        shared_bytes message_;
        std::optional<key> key_;
    };

    /// Queues `message`.
    ///
    /// @param  message  Shared: a sender that may have to send it again keeps a copy. Empty does nothing.
    /// @param  of       If given, the message takes the place of a queued one of the same key, wherever
    ///                  that stands, unless the stream has been offered it.
    ///
    /// Errors:        `errc::message_size` if it is larger than `bytes_max`; `errc::limit_exceeded` from the
    ///                message on that a disconnecting outbox had no room for (`bound_met` tells which
    ///                bound); `errc::closed`; what the writer has failed with.
    /// Cancellation:  `errc::canceled`; it was not queued. Later senders do not overtake while it waits.
    /// Threads:       the loop or strand of the outbox.
    /// Cost:          no allocation but for the queue's growth to what it has held at most; it waits only
    ///                under `slow_consumer::wait`. Tens of ns.
    [[nodiscard]] send_awaiter send(shared_bytes message, std::optional<key> of = {}) noexcept {
        return {*this, std::move(message), of};
    }

    /// The same without waiting, outside of coroutines too: `errc::resource_unavailable` if it would have
    /// to.
    io_result<> try_send(shared_bytes message, std::optional<key> of = {}) noexcept;

    /// No message follows: senders that wait end with `errc::closed`, the writer when it has written the
    /// rest.
    void close() noexcept;

    /// Ends it at once with `reason`, which senders and the writer then report; what is queued stays. Nothing
    /// if it has failed before.
    void fail(error reason) noexcept;

    /// Takes its failure back, for a `write_from` to another stream: that gets what is queued, and of a
    /// message of which a part was written, all. What the stream before has taken to its end may have been
    /// lost with it: only answers of the peer tell.
    /// @pre  its writer has ended.
    void renew() noexcept;

    /// Why it takes no message and writes none, if so.
    [[nodiscard]] error failure() const noexcept { return failure_; }

    /// Which bound was met when a disconnecting outbox failed.
    [[nodiscard]] outbox_bound bound_met() const noexcept { return bound_met_; }

    /// Whether `close` was called.
    [[nodiscard]] bool closed() const noexcept { return closed_; }

    /// What is queued or being written. Of a message that is written in part, all of it.
    [[nodiscard]] std::size_t queued_bytes() const noexcept { return bytes_; }
    [[nodiscard]] std::size_t queued_messages() const noexcept { return count_; }

    [[nodiscard]] const outbox_counters& counters() const noexcept { return counters_; }

    // Implementation: the writer's side, for `write_from`.

    class next_awaiter final : public waiter {
    public:
        explicit next_awaiter(outbox& from) noexcept
            : waiter{"messages in an outbox"}, from_{from} {}

        [[nodiscard]] bool await_suspend(std::coroutine_handle<> handle,
                                         const environment* given) noexcept;
        io_result<> await_resume() const noexcept;

    private:
        outbox& from_;
    };

    class failed_awaiter final : public waiter {
    public:
        explicit failed_awaiter(outbox& of) noexcept : waiter{"an outbox's end"}, of_{of} {}

        [[nodiscard]] bool await_suspend(std::coroutine_handle<> handle,
                                         const environment* given) noexcept;
        io_result<> await_resume() const noexcept { return outcome(); }

    private:
        outbox& of_;
    };

    /// Whose turn it is to write. Lets what is being written be replaced again when its frame ends.
    class writing {
    public:
        explicit writing(outbox& from) noexcept;
        writing(const writing&) = delete;
        writing& operator=(const writing&) = delete;
        ~writing();

        /// Waits for a message: `errc::closed` when there is none and none will be.
        [[nodiscard]] next_awaiter next() noexcept { return next_awaiter{from_}; }
        /// Waits until the outbox fails.
        [[nodiscard]] failed_awaiter failed() noexcept { return failed_awaiter{from_}; }

        /// As many messages as one call takes, borrowed until `wrote`.
        [[nodiscard]] const_buffers gather() noexcept;
        /// Of the first of these, what earlier writes have taken.
        [[nodiscard]] std::size_t skipped() const noexcept { return from_.front_written_; }
        /// Lets go of what the stream has taken. Whether a message is left that was begun.
        bool wrote(std::size_t bytes) noexcept;

    private:
        outbox& from_;
        std::array<const_buffer, buffers_per_call_max> parts_;
    };

private:
    struct entry {
        shared_bytes message;
        key of = 0;
        std::uint32_t next = none;  // In the chain of its bucket.
        bool has_key = false;       // And stands in a chain.
    };
    enum class admission : std::uint8_t { queued, must_wait };

    static constexpr std::uint32_t none = UINT32_MAX;
    static constexpr std::size_t first_size = 8;

    // What the next message would be refused with, whether or not there is room.
    [[nodiscard]] error refusal(const shared_bytes& message) const noexcept;
    // Queues it, replaces another by it, or does what the policy says.
    [[nodiscard]] admission take(shared_bytes& message, std::optional<key> of) noexcept;
    [[nodiscard]] bool replaced(shared_bytes& message, key of) noexcept;
    [[nodiscard]] outbox_bound bound_for(std::size_t bytes) const noexcept;
    [[nodiscard]] bool make_room(std::size_t bytes) noexcept;
    void put(shared_bytes& message, std::optional<key> of) noexcept;
    void admit() noexcept;
    void note_bytes() noexcept;
    void pop_front() noexcept;
    void grow() noexcept;

    [[nodiscard]] entry& at(std::size_t index) noexcept { return ring_[place_of(index)]; }
    [[nodiscard]] std::uint32_t place_of(std::size_t index) const noexcept {
        return static_cast<std::uint32_t>((first_ + index) & (ring_.size() - 1));
    }
    [[nodiscard]] std::uint32_t& bucket_of(key of) noexcept;
    [[nodiscard]] std::uint32_t find(key of) noexcept;
    void enter_chain(std::uint32_t place) noexcept;
    void leave_chain(std::uint32_t place) noexcept;

    outbox_options options_;
    std::vector<entry> ring_;             // `count_` entries from `first_` on; a power of two.
    std::vector<std::uint32_t> buckets_;  // As many; the first place in the chain, or `none`.
    std::size_t first_ = 0;
    std::size_t count_ = 0;          // Invariant: at most `messages_max`.
    std::size_t bytes_ = 0;          // Invariant: of all entries, and at most `bytes_max`.
    std::size_t pinned_ = 0;         // Entries at the front that the kernel may be reading.
    std::size_t front_written_ = 0;  // Bytes of the first; it is pinned while this is not 0.
    waiters senders_;                // Invariant: empty unless there is no room for the first.
    waiters writer_;                 // Invariant: empty unless the ring is.
    waiters failure_watch_;
    outbox_counters counters_;
    error failure_;
    outbox_bound bound_met_ = outbox_bound::none;
    bool has_writer_ = false;
    bool closed_ = false;
};

/// Writes the messages of `from` to `to` until `from` is closed and empty.
///
/// @param  from  Borrowed; one writer at a time.
/// @param  to    Borrowed. Between two messages, when none is queued, others may write to it.
///
/// Errors:        what `to` has failed with: then `from` fails, too, so that no sender waits for a peer that
///                is gone; what `from` has failed with, as `errc::limit_exceeded` when the peer was too slow.
///                That ends a write that is under way, so a message may be torn, and closing is all that is
///                left to do with `to`.
/// Cancellation:  `errc::canceled`; what was not written stays queued, the rest of a message that was begun
///                included: another `write_from` to the same stream goes on there.
/// Threads:       the loop or strand of the outbox.
/// Cost:          two frames, no allocation afterwards; a write gathers up to `buffers_per_call_max` messages
///                where `to` can.
template <write_stream Stream>
task<io_result<>> write_from(outbox& from, Stream& to);

// Implementation

template <write_stream Stream>
task<io_result<>> write_messages(outbox::writing& messages, Stream& to) {
    for (;;) {
        const io_result<> waited = co_await messages.next();
        if (waited.error() == errc::closed) co_return io_result<>{};
        if (!waited.ok()) co_return waited.error();

        message_writer_of<Stream> writer{to};
        io_result<std::size_t> written;
        bool torn = false;
        do {
            const const_buffers parts = messages.gather();
            written = co_await write_next(writer, parts, messages.skipped());
            torn = messages.wrote(written.value());
        } while (written.ok() && torn);
        writer.end();
        if (!written.ok()) co_return written.error();
    }
}

template <write_stream Stream>
task<io_result<>> write_from(outbox& from, Stream& to) {
    outbox::writing messages{from};
    const auto ended = co_await when_any(write_messages(messages, to), messages.failed());
    if (from.failure()) co_return from.failure();
    const error failed = std::get<0>(ended.results).error();
    if (failed && failed != errc::canceled) from.fail(failed);
    co_return failed;
}

}  // namespace gyre
