// SPDX-License-Identifier: BSL-1.0
//
// Segments that are taken, filled and given back: see message_log.hpp.
#include <exchange/codec/message_log.hpp>

#include <algorithm>
#include <bit>
#include <utility>

namespace exchange {

namespace {

/// Never fewer than two: one to write into, and one that is being read.
[[nodiscard]] std::size_t segments_for(const message_log_options& options,
                                       std::size_t segment_bytes) noexcept {
    return std::max<std::size_t>(options.unread_bytes_max / segment_bytes, 2);
}

}  // namespace

segment_pool_options message_log::own_pool_for(const message_log_options& options) noexcept {
    return {.bytes_max = segments_for(options, options.segment_bytes) * options.segment_bytes,
            .segment_bytes = options.segment_bytes,
            .warm_bytes = options.warm_bytes};
}

std::size_t message_log::list_bytes_for(const message_log_options& options,
                                        const segment_pool_options& pool) noexcept {
    const std::size_t most = pool.bytes_max / pool.segment_bytes + 1;
    return table_bytes<listed_segment>(
        std::bit_ceil(std::min(segments_for(options, pool.segment_bytes), most)));
}

message_log::message_log(const message_log_options& options)
    : message_log{options, std::make_unique<segment_pool>(own_pool_for(options)), nullptr} {}

message_log::message_log(const message_log_options& options, segment_pool& pool)
    : message_log{options, nullptr, &pool} {}

message_log::message_log(const message_log_options& options, std::unique_ptr<segment_pool> own,
                         segment_pool* shared)
    : own_pool_{std::move(own)},
      pool_{own_pool_ ? *own_pool_ : *shared},
      kept_bytes_max_{options.kept_bytes_max},
      kept_messages_max_{options.kept_messages_max},
      message_bytes_max_{options.message_bytes_max},
      prefix_bytes_{options.prefix_bytes},
      segment_bytes_{pool_.segment_bytes()},
      segments_max_{std::min(segments_for(options, segment_bytes_), pool_.capacity())},
      list_{std::bit_ceil(segments_max_)},
      list_mask_{list_.size() - 1},
      first_{options.first_sequence},
      next_{options.first_sequence},
      sealed_{options.first_sequence},
      released_{options.held ? options.first_sequence : ~std::uint64_t{0}},
      reader_{options.first_sequence} {
    gyre::expects(kept_messages_max_ > 0 && prefix_bytes_ > 0);
    gyre::expects(segment_bytes_ >= prefix_bytes_ + message_bytes_max_ + sizeof(end_mark),
                  "room for the largest message");
    pool_.join();
}

message_log::~message_log() {
    while (back_ != front_) give_back_front();
    pool_.leave();
}

void message_log::reader_at(std::uint64_t sequence) noexcept {
    gyre::expects(sequence >= first_ && sequence <= next_);
    has_reader_ = true;
    reader_ = sequence;
    if (sequence == next_) {
        reader_position_ = position();
    } else {
        const place it = find(sequence);
        reader_position_ = it.listed->position + begin_of(it.segment, it.at);
    }
    evict_read();
}

void message_log::reader_left() noexcept {
    reader_at(next_);
    has_reader_ = false;
}

/// Of the oldest segment one message at least, and as many as `more` wants.
template <class More>
void message_log::evict_while(const More& more) noexcept {
    const listed_segment& oldest = listed(front_);
    const std::byte* const segment = pool_.bytes(oldest.number);
    const std::uint64_t end = end_of_front();
    do {
        const auto at = static_cast<std::size_t>(first_ - oldest.first_sequence);
        first_position_ = oldest.position + mark(segment, at);
        ++first_;
    } while (first_ < end && more());
    // The last one is being written, and keeps its place.
    if (first_ == end && back_ - front_ > 1) give_back_front();
}

/// Of what the reader has got, what is more than is kept.
void message_log::evict_read() noexcept {
    const auto is_too_much = [this] {
        return reader_ > first_ && (reader_ - first_ > kept_messages_max_ ||
                                    reader_position_ - first_position_ > kept_bytes_max_);
    };
    while (is_too_much()) evict_while(is_too_much);
}

/// Makes the room for a message of so many bytes, and without a reader a place among those that are kept.
void message_log::make_room(std::size_t framed_size) noexcept {
    if (!has_reader_) {
        const auto is_too_much = [&] {
            return first_ < next_ && (next_ - first_ >= kept_messages_max_ ||
                                      position() + framed_size - first_position_ > kept_bytes_max_);
        };
        while (is_too_much()) evict_while(is_too_much);
    }
    if (tail_ + framed_size + sizeof(end_mark) > marks_) open_segment();
}

void message_log::open_segment() noexcept {
    if (front_ != back_ && first_ == next_)
        return begin_segment(drop_front());  // Nothing in it is kept.
    if (back_ - front_ < segments_max_) {
        const segment_pool::number more = pool_.take(back_ - front_);
        if (more != segment_pool::none) return begin_segment(more);
    }
    begin_segment(drop_front());
}

void message_log::begin_segment(segment_pool::number with) noexcept {
    base_position_ = position();
    tail_ = 0;
    marks_ = segment_bytes_;
    segment_ = pool_.bytes(with);
    listed(back_++) = {next_, base_position_, with};
}

void message_log::give_back_front() noexcept {
    const segment_pool::number gone = drop_front();
    pool_.give_back(gone, back_ - front_);
}

/// Forgets the oldest segment, with whatever is left in it.
segment_pool::number message_log::drop_front() noexcept {
    const segment_pool::number gone = listed(front_).number;
    first_ = end_of_front();
    ++front_;
    first_position_ = front_ == back_ ? position() : listed(front_).position;
    return gone;
}

message_log::place message_log::find(std::uint64_t sequence) const noexcept {
    gyre::expects(holds(sequence));
    const listed_segment& newest = listed(back_ - 1);
    if (sequence < newest.first_sequence) return find_older(sequence);
    return {segment_, &newest, static_cast<std::size_t>(next_ - newest.first_sequence),
            static_cast<std::size_t>(sequence - newest.first_sequence)};
}

message_log::place message_log::find_older(std::uint64_t sequence) const noexcept {
    std::size_t at = back_ - 1;
    std::size_t below = front_;  // Invariant: the message is in [below, at).
    while (at - below > 1) {
        // The oldest segment first: that is where who fell behind reads.
        const std::size_t middle = below == front_ ? below + 1 : below + (at - below) / 2;
        if (sequence < listed(middle).first_sequence) at = middle;
        else below = middle;
    }
    const listed_segment& it = listed(below);
    const std::uint64_t end = listed(below + 1).first_sequence;
    return {pool_.bytes(it.number), &it, static_cast<std::size_t>(end - it.first_sequence),
            static_cast<std::size_t>(sequence - it.first_sequence)};
}

std::span<const std::byte> message_log::framed(std::uint64_t sequence) const noexcept {
    const place it = find(sequence);
    const std::size_t begin = begin_of(it.segment, it.at);
    return {it.segment + begin, mark(it.segment, it.at) - begin};
}

message_run message_log::run_from(std::uint64_t sequence, std::size_t bytes_max,
                                  std::size_t messages_max) const noexcept {
    const place it = find(sequence);
    const std::size_t begin = begin_of(it.segment, it.at);
    const std::size_t last = it.at + std::min(messages_max, released_of(it) - it.at);
    std::size_t at = it.at;
    std::size_t end = begin;
    while (at < last) {
        const std::size_t next_end = mark(it.segment, at);
        if (next_end - begin > bytes_max) break;
        end = next_end;
        ++at;
    }
    return {{it.segment + begin, end - begin}, at - it.at};
}

message_run message_log::run_from(std::uint64_t sequence) const noexcept {
    const place it = find(sequence);
    const std::size_t begin = begin_of(it.segment, it.at);
    const std::size_t end = released_of(it);
    return {{it.segment + begin, mark(it.segment, end - 1) - begin}, end - it.at};
}

}  // namespace exchange
