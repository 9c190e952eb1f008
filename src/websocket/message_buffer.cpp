// SPDX-License-Identifier: BSL-1.0
#include <gyre/websocket/message_buffer.hpp>

#include <gyre/base/check.hpp>

#include <algorithm>
#include <cstring>

namespace gyre::websocket {

namespace {

// After so many small messages the memory of a large one is given back.
constexpr std::size_t small_messages_max = 32;

std::unique_ptr<std::byte[]> memory(std::size_t size) {
    return std::unique_ptr<std::byte[]>{new std::byte[size]};
}

void move_bytes(std::byte* to, const std::byte* from, std::size_t count) noexcept {
    if (count > 0 && to != from) std::memmove(to, from, count);
}

}  // namespace

message_buffer::message_buffer(buffer_bounds bounds) noexcept
    : bounds_{bounds}, space_{memory(bounds.bytes_first)}, capacity_{bounds.bytes_first} {}

void message_buffer::skip(std::size_t count) noexcept {
    expects(count <= raw_end_ - raw_begin_, "skip what is there");
    raw_begin_ += count;
}

void message_buffer::keep(std::size_t count) noexcept {
    expects(count <= raw_end_ - raw_begin_, "keep what is there");
    if (message_begin_ == message_end_) message_begin_ = message_end_ = raw_begin_;
    move_bytes(space_.get() + message_end_, space_.get() + raw_begin_, count);
    message_end_ += count;
    raw_begin_ += count;
}

void message_buffer::drop_message() noexcept {
    const bool small = message_end_ - message_begin_ < capacity_ / 4;
    small_messages_ = small && capacity_ > bounds_.bytes_first ? small_messages_ + 1 : 0;
    message_begin_ = message_end_ = raw_begin_;
}

void message_buffer::close_gaps() noexcept {
    const std::size_t message_size = message_end_ - message_begin_;
    const std::size_t raw_size = raw_end_ - raw_begin_;
    move_bytes(space_.get(), space_.get() + message_begin_, message_size);
    move_bytes(space_.get() + message_size, space_.get() + raw_begin_, raw_size);
    message_begin_ = 0;
    message_end_ = raw_begin_ = message_size;
    raw_end_ = message_size + raw_size;
}

void message_buffer::move_to(std::size_t capacity) noexcept {
    close_gaps();
    std::unique_ptr<std::byte[]> other = memory(capacity);
    move_bytes(other.get(), space_.get(), raw_end_);
    space_ = std::move(other);
    capacity_ = capacity;
    small_messages_ = 0;
}

mutable_buffer message_buffer::room(std::size_t wanted) noexcept {
    const std::size_t used = (message_end_ - message_begin_) + (raw_end_ - raw_begin_);
    if (used == 0) {
        message_begin_ = message_end_ = raw_begin_ = raw_end_ = 0;
        if (small_messages_ >= small_messages_max) move_to(bounds_.bytes_first);
    }
    // Less room than an eighth makes reads of a few bytes: better to move once, or to grow.
    const std::size_t least = std::min(std::max<std::size_t>(wanted, 1), capacity_ / 8 + 1);
    if (capacity_ - raw_end_ < least) close_gaps();
    if (capacity_ - raw_end_ < least && capacity_ < bounds_.bytes_max) {
        const std::size_t doubled = capacity_ > bounds_.bytes_max / 2
                                        ? bounds_.bytes_max
                                        : std::max<std::size_t>(capacity_ * 2, 64);
        move_to(std::min(doubled, bounds_.bytes_max));
    }
    return {space_.get() + raw_end_, capacity_ - raw_end_};
}

void message_buffer::commit(std::size_t count) noexcept {
    expects(count <= capacity_ - raw_end_, "commit what there was room for");
    raw_end_ += count;
}

}  // namespace gyre::websocket
