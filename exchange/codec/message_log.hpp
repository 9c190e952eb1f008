// SPDX-License-Identifier: BSL-1.0
//
// The messages of a stream, kept for who has not read them yet, and the last of them for who must again.
//
// Resuming a SoupBinTCP session and answering a MoldUDP64 request are the same need: a message by its
// sequence number, out of a bounded memory. Messages stand side by side in segments, each behind room for its
// framing, so that what is stored is what is sent: soup_server.hpp and mold_sender.hpp gather from here.
// Segments come from segment_pool.hpp and go back to it, so a stream takes what it holds.
#pragma once

#include <exchange/codec/segment_pool.hpp>
#include <exchange/core/zeroed_array.hpp>

#include <gyre/base/check.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

namespace exchange {

struct message_log_options {
    /// Kept behind the reader, or at all if there is none: bytes with their framing, and messages.
    std::size_t kept_bytes_max = std::size_t{1} << 20;
    std::size_t kept_messages_max = std::size_t{1} << 14;
    /// Memory, in segments of which there are two at least, for what is kept and what the reader has not got
    /// together.
    std::size_t unread_bytes_max = std::size_t{4} << 20;
    std::size_t message_bytes_max = 1024;             ///< Of one message, without its framing.
    std::size_t prefix_bytes = 2;                     ///< Room for framing before each; at least 1.
    std::uint64_t first_sequence = 1;                 ///< Of the first message.
    std::size_t segment_bytes = segment_bytes_usual;  ///< Of a pool of its own.
    std::size_t warm_bytes = 0;                       ///< Of a pool of its own.
    bool held = false;  ///< A message can be read only once it is released.
};

/// Messages that stand side by side in memory.
struct message_run {
    std::span<const std::byte> bytes;  ///< Framed. Borrowed from the log, as long as it holds them.
    std::size_t messages = 0;
};

/// The newest messages of a stream, numbered without gaps.
///
/// The oldest go when they are behind the reader and more than is kept; without a reader, when all are
/// more. What the reader has not got goes only if the log has as much memory as it may, or the pool has
/// no more: then the oldest segment is used again, and what the reader missed is for the owner to tell
/// (`outrun`). No other log loses anything by that.
///
/// Threads:  One at a time, all logs of the pool included.
/// Cost:     Constant time, evictions aside; to find a message that stands in neither the first nor the last
///           segment, the logarithm of their number. The list of segments is reserved at construction.
class message_log {
public:
    /// With a pool of its own, as large as it may need.
    explicit message_log(const message_log_options& options);
    /// @param  pool  Borrowed; outlives this.
    message_log(const message_log_options& options, segment_pool& pool);
    message_log(const message_log&) = delete;
    message_log& operator=(const message_log&) = delete;
    ~message_log();

    /// The pool that such a log has, if it has one of its own.
    [[nodiscard]] static segment_pool_options own_pool_for(
        const message_log_options& options) noexcept;
    /// What the list of segments of such a log reserves.
    [[nodiscard]] static std::size_t list_bytes_for(const message_log_options& options,
                                                    const segment_pool_options& pool) noexcept;

    /// Room for the next message, of at least `size` bytes; evicts the oldest as needed.
    ///
    /// Nothing is written by this: what was evicted can be read as before until the room is written into.
    ///
    /// @param  size  At most `message_bytes_max`.
    /// @return Exactly `size` bytes, behind `prefix_bytes` that belong to the framing. Borrowed until
    ///         `commit`; preparing again without it starts over.
    [[nodiscard]] std::span<std::byte> prepare(std::size_t size) noexcept {
        gyre::expects(size <= message_bytes_max_);
        const std::size_t framed_size = prefix_bytes_ + size;
        if (tail_ + framed_size + sizeof(end_mark) > marks_ || !has_reader_) make_room(framed_size);
        prepared_ = size;
        return {segment_ + tail_ + prefix_bytes_, size};
    }

    /// Numbers the prepared message and keeps it.
    ///
    /// @param  size  Its true size, at most what was prepared.
    /// @return The message behind its prefix, which the caller fills in now.
    std::span<std::byte> commit(std::size_t size) noexcept {
        gyre::expects(size <= prepared_, "more was written than prepared");
        std::byte* const begin = segment_ + tail_;
        const std::size_t framed_size = prefix_bytes_ + size;
        tail_ += framed_size;
        marks_ -= sizeof(end_mark);
        const auto mark = static_cast<end_mark>(tail_);
        std::memcpy(segment_ + marks_, &mark, sizeof mark);
        ++next_;
        prepared_ = 0;
        return {begin, framed_size};
    }

    /// Somebody reads, and has got everything below `sequence`: nothing from there on goes before its time.
    ///
    /// @param  sequence  At most `next_sequence()`; not below `first_sequence()`.
    void reader_at(std::uint64_t sequence) noexcept;
    /// Nobody reads any more.
    void reader_left() noexcept;

    /// Did messages go that the reader has not got? Until the next word about it.
    [[nodiscard]] bool outrun() const noexcept { return has_reader_ && reader_ < first_; }
    /// What the reader has not got is more than a quarter of what is kept, by number or by size; or was
    /// outrun.
    [[nodiscard]] bool crowded() const noexcept {
        return has_reader_ && (reader_ < first_ || 4 * (next_ - reader_) > kept_messages_max_ ||
                               4 * (position() - reader_position_) > kept_bytes_max_);
    }

    /// The number of the oldest message that is kept; `next_sequence()` if there is none.
    [[nodiscard]] std::uint64_t first_sequence() const noexcept { return first_; }

    /// The number that the next message will get.
    [[nodiscard]] std::uint64_t next_sequence() const noexcept { return next_; }

    /// Messages below this one can be read: all of them, unless the log is held.
    [[nodiscard]] std::uint64_t end_of_released() const noexcept {
        return released_ < next_ ? released_ : next_;
    }
    /// Of a log that is held: draws a line behind the newest message; `release` lets go what stands before.
    void seal() noexcept { sealed_ = next_; }
    void release() noexcept { released_ = sealed_; }

    [[nodiscard]] bool holds(std::uint64_t sequence) const noexcept {
        return sequence >= first_ && sequence < next_;
    }
    /// All that is held, framing included.
    [[nodiscard]] std::size_t bytes() const noexcept {
        return static_cast<std::size_t>(position() - first_position_);
    }
    [[nodiscard]] std::size_t segments() const noexcept { return back_ - front_; }
    [[nodiscard]] std::size_t message_bytes_max() const noexcept { return message_bytes_max_; }

    /// The framed message `sequence`, which must be held.
    [[nodiscard]] std::span<const std::byte> framed(std::uint64_t sequence) const noexcept;

    /// As many whole messages as stand side by side from `sequence` on, within both limits.
    ///
    /// @param  sequence  Must be held.
    /// @return Empty only if the first message alone is over a limit.
    [[nodiscard]] message_run run_from(std::uint64_t sequence, std::size_t bytes_max,
                                       std::size_t messages_max) const noexcept;

    /// Everything that is released and stands side by side from `sequence` on, which must be there.
    [[nodiscard]] message_run run_from(std::uint64_t sequence) const noexcept;

private:
    message_log(const message_log_options& options, std::unique_ptr<segment_pool> own,
                segment_pool* shared);

    // A segment has messages from its front on; from its back on, where each of them ends.
    using end_mark = std::uint32_t;

    struct listed_segment {
        std::uint64_t first_sequence;  // Of the first message in it, evicted or not.
        std::uint64_t position;        // So many bytes of messages were committed before it.
        segment_pool::number number;
    };
    /// Where a message that is held stands.
    struct place {
        const std::byte* segment;
        const listed_segment* listed;
        std::size_t messages;  // Of the segment, up to where the next one begins.
        std::size_t at;        // Among them.
    };

    [[nodiscard]] listed_segment& listed(std::size_t at) noexcept { return list_[at & list_mask_]; }
    [[nodiscard]] const listed_segment& listed(std::size_t at) const noexcept {
        return list_[at & list_mask_];
    }
    [[nodiscard]] std::uint64_t position() const noexcept { return base_position_ + tail_; }
    [[nodiscard]] std::size_t mark(const std::byte* segment, std::size_t at) const noexcept {
        end_mark made;
        std::memcpy(&made, segment + segment_bytes_ - (at + 1) * sizeof made, sizeof made);
        return made;
    }
    /// Where the message begins, and the one behind the last ends.
    [[nodiscard]] std::size_t begin_of(const std::byte* segment, std::size_t at) const noexcept {
        return at == 0 ? 0 : mark(segment, at - 1);
    }
    [[nodiscard]] place find(std::uint64_t sequence) const noexcept;
    [[nodiscard]] place find_older(std::uint64_t sequence) const noexcept;
    /// As `messages`, of which no more than are released.
    [[nodiscard]] std::size_t released_of(const place& it) const noexcept {
        return static_cast<std::size_t>(
            std::min(released_ - it.listed->first_sequence, std::uint64_t{it.messages}));
    }
    [[nodiscard]] std::uint64_t end_of_front() const noexcept {
        return back_ - front_ == 1 ? next_ : listed(front_ + 1).first_sequence;
    }
    void make_room(std::size_t framed_size) noexcept;
    void open_segment() noexcept;
    void begin_segment(segment_pool::number with) noexcept;
    template <class More>
    void evict_while(const More& more) noexcept;
    void evict_read() noexcept;
    void give_back_front() noexcept;
    [[nodiscard]] segment_pool::number drop_front() noexcept;

    std::unique_ptr<segment_pool> own_pool_;  // Or none.
    segment_pool& pool_;
    std::size_t kept_bytes_max_;
    std::size_t kept_messages_max_;
    std::size_t message_bytes_max_;
    std::size_t prefix_bytes_;
    std::size_t segment_bytes_;
    std::size_t segments_max_;
    zeroed_array<listed_segment>
        list_;  // A ring, by the low bits of a segment's place in the stream.
    std::size_t list_mask_;

    // Invariant: the segments [front_, back_) are listed in order, and hold the messages [first_, next_): the
    // first one that of first_, if there is any.
    std::size_t front_ = 0;
    std::size_t back_ = 0;
    std::uint64_t first_;
    std::uint64_t next_;
    std::uint64_t first_position_ =
        0;  // Bytes of messages that were committed before that of first_.

    // The last segment: messages end at tail_, their marks begin at marks_. Without one there is no room.
    std::byte* segment_ = nullptr;
    std::size_t tail_ = 0;
    std::size_t marks_ = 0;
    std::uint64_t base_position_ = 0;
    std::size_t prepared_ = 0;

    std::uint64_t sealed_;
    std::uint64_t released_;  // Beyond all numbers if the log is not held.

    std::uint64_t reader_;  // Meaningful if there is one, as the next.
    std::uint64_t reader_position_ = 0;
    bool has_reader_ = false;
};

}  // namespace exchange
