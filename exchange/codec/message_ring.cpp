// SPDX-License-Identifier: BSL-1.0
//
// Laps, evictions and runs: see message_ring.hpp.
#include <exchange/codec/message_ring.hpp>

#include <algorithm>
#include <bit>

namespace exchange {

using gyre::expects;

message_ring::message_ring(const message_ring_options& options)
    : bytes_(options.bytes_max),
      places_(std::bit_ceil(options.messages_max)),
      place_mask_{places_.size() - 1},
      message_bytes_max_{options.message_bytes_max},
      prefix_bytes_{options.prefix_bytes},
      first_{options.first_sequence},
      next_{options.first_sequence},
      lap_{options.first_sequence},
      free_until_{options.bytes_max} {
    expects(options.messages_max > 0 && prefix_bytes_ > 0);
    expects(options.bytes_max <= message_ring_bytes_max);
    expects(bytes_.size() >= prefix_bytes_ + message_bytes_max_, "room for the largest message");
}

/// Evicts the oldest messages until `framed_size` bytes are free behind the tail, and a place.
void message_ring::make_room(std::size_t framed_size) noexcept {
    if (tail_ + framed_size > bytes_.size()) {
        // What stands above the tail is the rest of the lap before; the new lap begins at 0.
        first_ = std::max(first_, lap_);
        lap_ = next_;
        lap_end_ = tail_;
        tail_ = 0;
    }
    while (first_ < lap_ && at(first_).offset < tail_ + framed_size) ++first_;
    if (next_ - first_ == places_.size()) ++first_;
    free_until_ = first_ < lap_ ? at(first_).offset : bytes_.size();
}

std::span<const std::byte> message_ring::framed(std::uint64_t sequence) const noexcept {
    expects(holds(sequence));
    const place& it = at(sequence);
    return std::span{bytes_}.subspan(it.offset, it.size);
}

message_run message_ring::run_from(std::uint64_t sequence, std::size_t bytes_max,
                                   std::size_t messages_max) const noexcept {
    expects(holds(sequence));
    const std::uint64_t end = sequence < lap_ ? lap_ : next_;
    const std::size_t begin = at(sequence).offset;
    std::size_t size = 0;
    std::size_t messages = 0;
    while (sequence + messages < end && messages < messages_max) {
        const std::size_t next_size = at(sequence + messages).size;
        if (size + next_size > bytes_max) break;
        size += next_size;
        ++messages;
    }
    return {std::span{bytes_}.subspan(begin, size), messages};
}

message_run message_ring::run_from(std::uint64_t sequence) const noexcept {
    expects(holds(sequence));
    const bool in_lap_before = sequence < lap_;
    const std::size_t begin = at(sequence).offset;
    const std::size_t end = in_lap_before ? lap_end_ : tail_;
    return {std::span{bytes_}.subspan(begin, end - begin),
            (in_lap_before ? lap_ : next_) - sequence};
}

}  // namespace exchange
