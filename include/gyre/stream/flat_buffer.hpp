// SPDX-License-Identifier: BSL-1.0
//
// Memory that grows with its content, up to a bound: bytes are added behind and taken in front.
//
// All of the content is always one piece, so a message in it is a view and not a copy. buffered.hpp reads
// into one and writes from one.
#pragma once

#include <gyre/base/buffer.hpp>
#include <gyre/base/build.hpp>
#include <gyre/base/check.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <memory>

namespace gyre {

/// How much memory a buffer has to begin with, and how much it may ever have.
struct buffer_bounds {
    /// All of it from the beginning.
    template <std::integral Size>
    constexpr buffer_bounds(Size bytes) noexcept
        : buffer_bounds{static_cast<std::size_t>(bytes), static_cast<std::size_t>(bytes)} {}

    /// @pre  first <= max, max > 0.
    constexpr buffer_bounds(std::size_t first, std::size_t max) noexcept
        : bytes_first{first}, bytes_max{max} {
        expects(first <= max && max > 0, "a buffer begins within its bound, and has room");
    }

    std::size_t bytes_first;
    std::size_t bytes_max;
};

/// Moves; the one moved from is empty, and grows again. Running out of memory is a failed check.
class flat_buffer {
public:
    /// Cost: one allocation, of `bytes_first`.
    explicit flat_buffer(buffer_bounds bounds) noexcept;
    flat_buffer(flat_buffer&& other) noexcept;
    flat_buffer& operator=(flat_buffer&& other) noexcept;
    ~flat_buffer() = default;

    [[nodiscard]] std::size_t size() const noexcept { return end_ - begin_; }
    [[nodiscard]] bool empty() const noexcept { return begin_ == end_; }

    /// The content. Valid until `prepare` or `shrink_to_fit` is called; consuming it leaves its bytes there.
    [[nodiscard]] const_buffer data() const noexcept GYRE_LIFETIMEBOUND {
        return {space_.get() + begin_, size()};
    }

    /// Bytes that it has memory for now, and may ever have.
    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
    [[nodiscard]] std::size_t max_size() const noexcept { return max_; }

    /// All the room behind the content: `wanted` bytes or more, less only where the bound forbids it.
    ///
    /// Cost: nothing if there is so much; else the content moves to the front, or to twice the memory or
    ///       as much as is needed.
    [[nodiscard]] mutable_buffer prepare(std::size_t wanted) noexcept GYRE_LIFETIMEBOUND;

    /// The first `count` bytes of that room are content now. @pre  it has so many.
    void commit(std::size_t count) noexcept {
        expects(count <= capacity_ - end_, "commit what was prepared");
        end_ += count;
    }

    /// Adds a copy of `from`, which is none of its own content. @pre  the bound allows it.
    void append(const_buffer from) noexcept;

    /// Drops the first `count` bytes. @pre  there are so many.
    void consume(std::size_t count) noexcept {
        expects(count <= size(), "consume what is there");
        begin_ += count;
        if (begin_ == end_) begin_ = end_ = 0;
    }

    /// Drops the last `count` bytes, as if they had not been committed. @pre  there are so many.
    void drop_back(std::size_t count) noexcept {
        expects(count <= size(), "drop what is there");
        end_ -= count;
    }

    /// Gives back the memory that the content does not need, as after a message of rare size.
    void shrink_to_fit() noexcept { move_to(size()); }

private:
    void move_to(std::size_t capacity) noexcept;

    std::unique_ptr<std::byte[]> space_;
    std::size_t capacity_ = 0;
    std::size_t max_;        // Invariant: at least `capacity_`.
    std::size_t begin_ = 0;  // The content is [begin_, end_) of the space.
    std::size_t end_ = 0;
};

}  // namespace gyre
