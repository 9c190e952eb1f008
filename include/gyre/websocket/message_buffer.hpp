// SPDX-License-Identifier: BSL-1.0
//
// One piece of memory in which bytes arrive and become a message, without being copied to another.
//
// What comes lies behind what was kept of the message so far; a header between the two is closed over. So a
// message in one frame stays where it was read, and one in many frames moves by the size of their headers.
#pragma once

#include <gyre/base/buffer.hpp>
#include <gyre/stream/flat_buffer.hpp>

#include <cstddef>
#include <memory>

namespace gyre::websocket {

/// The message, and behind it the raw bytes that are not looked at yet. Does not move.
class message_buffer {
public:
    /// Cost: one allocation, of `bytes_first`.
    explicit message_buffer(buffer_bounds bounds) noexcept;
    message_buffer(const message_buffer&) = delete;
    message_buffer& operator=(const message_buffer&) = delete;

    /// What was kept. Valid until `keep`, `drop_message` or `room`.
    [[nodiscard]] const_buffer message() const noexcept GYRE_LIFETIMEBOUND {
        return {space_.get() + message_begin_, message_end_ - message_begin_};
    }
    /// What came and was neither kept nor skipped. Valid as long.
    [[nodiscard]] mutable_buffer raw() noexcept GYRE_LIFETIMEBOUND {
        return {space_.get() + raw_begin_, raw_end_ - raw_begin_};
    }

    /// The first `count` raw bytes are done with. @pre  there are so many; so with `keep`.
    void skip(std::size_t count) noexcept;
    /// They belong to the message.
    void keep(std::size_t count) noexcept;
    /// The message is done with.
    void drop_message() noexcept;

    /// Room behind the raw bytes for more of them. Empty only if the bound is reached.
    ///
    /// @param  wanted  A hint: so many would be read. More memory is taken only when nearly all there is
    ///                 is full, so a peer has memory for what it has sent, not for what it announces.
    [[nodiscard]] mutable_buffer room(std::size_t wanted) noexcept GYRE_LIFETIMEBOUND;
    /// The first `count` bytes of that room are raw bytes now.
    void commit(std::size_t count) noexcept;

    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

private:
    void close_gaps() noexcept;
    void move_to(std::size_t capacity) noexcept;

    buffer_bounds bounds_;
    std::unique_ptr<std::byte[]> space_;
    std::size_t capacity_;
    // Invariant: message_begin_ <= message_end_ <= raw_begin_ <= raw_end_ <= capacity_.
    std::size_t message_begin_ = 0;
    std::size_t message_end_ = 0;
    std::size_t raw_begin_ = 0;
    std::size_t raw_end_ = 0;
    std::size_t small_messages_ = 0;  // In a row, that would have fitted into a quarter.
};

}  // namespace gyre::websocket
