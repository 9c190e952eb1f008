// SPDX-License-Identifier: BSL-1.0
//
// The last messages of a stream, kept for readers that have to receive them again.
//
// Resuming a SoupBinTCP session and answering a MoldUDP64 request are the same need: a message by its
// sequence number, out of a bounded memory. Messages stand in one block, each behind room for its
// framing, so that what is stored is what is sent: soup_server.hpp and mold_sender.hpp gather from here.
#pragma once

#include <gyre/base/check.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace exchange {

/// As much as a ring can keep: places are found by 32 bits.
inline constexpr std::size_t message_ring_bytes_max = 0xffff'ffff;

struct message_ring_options {
    std::size_t bytes_max =
        std::size_t{1} << 20;  ///< Of all messages with their framing; `message_ring_bytes_max`.
    std::size_t messages_max = std::size_t{1} << 14;  ///< Rounded up to a power of two.
    std::size_t message_bytes_max = 1024;             ///< Of one message, without its framing.
    std::size_t prefix_bytes = 2;                     ///< Room for framing before each; at least 1.
    std::uint64_t first_sequence = 1;                 ///< Of the first message.
};

/// Messages that stand side by side in memory.
struct message_run {
    std::span<const std::byte> bytes;  ///< Framed. Borrowed from the ring until the next `prepare`.
    std::size_t messages = 0;
};

/// The newest messages of a stream, numbered without gaps; the oldest make room for new ones.
///
/// Threads:  One at a time.
/// Cost:     All memory is taken at construction; each call is constant time, evictions aside.
class message_ring {
public:
    explicit message_ring(const message_ring_options& options);

    /// Room for the next message, of at least `size` bytes; evicts the oldest as needed.
    ///
    /// @param  size  At most `message_bytes_max`.
    /// @return Exactly `size` bytes, behind `prefix_bytes` that belong to the framing. Borrowed until
    ///         `commit`; preparing again without it starts over.
    [[nodiscard]] std::span<std::byte> prepare(std::size_t size) noexcept {
        gyre::expects(size <= message_bytes_max_);
        const std::size_t framed_size = prefix_bytes_ + size;
        if (tail_ + framed_size > free_until_ || next_ - first_ > place_mask_)
            make_room(framed_size);
        prepared_ = size;
        return {bytes_.data() + tail_ + prefix_bytes_, size};
    }

    /// Numbers the prepared message and keeps it.
    ///
    /// @param  size  Its true size, at most what was prepared.
    /// @return The message behind its prefix, which the caller fills in now.
    std::span<std::byte> commit(std::size_t size) noexcept {
        gyre::expects(size <= prepared_, "more was written than prepared");
        const std::size_t begin = tail_;
        const std::size_t framed_size = prefix_bytes_ + size;
        places_[next_++ & place_mask_] = {static_cast<std::uint32_t>(begin),
                                          static_cast<std::uint32_t>(framed_size)};
        tail_ += framed_size;
        prepared_ = 0;
        return {bytes_.data() + begin, framed_size};
    }

    /// The number of the oldest message that is kept; `next_sequence()` if there is none.
    [[nodiscard]] std::uint64_t first_sequence() const noexcept { return first_; }

    /// The number that the next message will get.
    [[nodiscard]] std::uint64_t next_sequence() const noexcept { return next_; }

    [[nodiscard]] bool holds(std::uint64_t sequence) const noexcept {
        return sequence >= first_ && sequence < next_;
    }

    /// Do the messages from `sequence` on take more than a quarter of the memory, or of the places? So they
    /// do if some of them have been pushed out already.
    ///
    /// @param  sequence  At most `next_sequence()`. Constant time.
    [[nodiscard]] bool takes_a_quarter(std::uint64_t sequence) const noexcept {
        if (sequence == next_) return false;
        return sequence < first_ || 4 * (next_ - sequence) > places_.size() ||
               4 * bytes_from(sequence) > bytes_.size();
    }

    [[nodiscard]] std::size_t message_bytes_max() const noexcept { return message_bytes_max_; }

    /// The framed message `sequence`, which must be held.
    [[nodiscard]] std::span<const std::byte> framed(std::uint64_t sequence) const noexcept;

    /// As many whole messages as stand side by side from `sequence` on, within both limits.
    ///
    /// @param  sequence  Must be held.
    /// @return Empty only if the first message alone is over a limit.
    [[nodiscard]] message_run run_from(std::uint64_t sequence, std::size_t bytes_max,
                                       std::size_t messages_max) const noexcept;

    /// Everything that stands side by side from `sequence` on, which must be held. Constant time.
    [[nodiscard]] message_run run_from(std::uint64_t sequence) const noexcept;

private:
    struct place {
        std::uint32_t offset;
        std::uint32_t size;  // With the prefix.
    };

    [[nodiscard]] const place& at(std::uint64_t sequence) const noexcept {
        return places_[sequence & place_mask_];
    }
    [[nodiscard]] std::size_t bytes_from(std::uint64_t sequence) const noexcept {
        const std::size_t begin = at(sequence).offset;
        return sequence < lap_ ? lap_end_ - begin + tail_ : tail_ - begin;
    }
    void make_room(std::size_t framed_size) noexcept;

    std::vector<std::byte> bytes_;
    std::vector<place> places_;  // By the low bits of the sequence number.
    std::uint64_t place_mask_;
    std::size_t message_bytes_max_;
    std::size_t prefix_bytes_;

    // Invariant: the messages [first_, next_) stand in order, from that of first_ up to tail_; those
    // numbered below lap_ stand at or above tail_, up to lap_end_, the others from 0 up to tail_.
    std::uint64_t first_;
    std::uint64_t next_;
    std::uint64_t lap_;
    std::size_t lap_end_ = 0;
    std::size_t tail_ = 0;
    std::size_t free_until_;  // Invariant: nothing that is kept stands between tail_ and here.
    std::size_t prepared_ = 0;
};

}  // namespace exchange
