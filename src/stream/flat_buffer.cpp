// SPDX-License-Identifier: BSL-1.0
//
// Growing and moving: see include/gyre/stream/flat_buffer.hpp.
#include <gyre/stream/flat_buffer.hpp>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace gyre {

flat_buffer::flat_buffer(buffer_bounds bounds) noexcept : max_{bounds.bytes_max} {
    move_to(bounds.bytes_first);
}

flat_buffer::flat_buffer(flat_buffer&& other) noexcept
    : space_{std::move(other.space_)},
      capacity_{std::exchange(other.capacity_, 0)},
      max_{other.max_},
      begin_{std::exchange(other.begin_, 0)},
      end_{std::exchange(other.end_, 0)} {}

flat_buffer& flat_buffer::operator=(flat_buffer&& other) noexcept {
    if (this == &other) return *this;
    space_ = std::move(other.space_);
    capacity_ = std::exchange(other.capacity_, 0);
    max_ = other.max_;
    begin_ = std::exchange(other.begin_, 0);
    end_ = std::exchange(other.end_, 0);
    return *this;
}

mutable_buffer flat_buffer::prepare(std::size_t wanted) noexcept {
    const std::size_t attainable = std::min(wanted, max_ - size());
    if (attainable > capacity_ - size()) {
        const std::size_t twice = capacity_ > max_ / 2 ? max_ : capacity_ * 2;
        move_to(std::max(twice, size() + attainable));
    } else if (attainable > capacity_ - end_) {
        std::memmove(space_.get(), space_.get() + begin_, size());
        end_ -= std::exchange(begin_, 0);
    }
    return {space_.get() + end_, capacity_ - end_};
}

void flat_buffer::append(const_buffer from) noexcept {
    if (from.empty()) return;
    const mutable_buffer room = prepare(from.size());
    expects(room.size() >= from.size(), "what is added stays within the bound");
    std::memcpy(room.data(), from.data(), from.size());
    commit(from.size());
}

void flat_buffer::move_to(std::size_t capacity) noexcept {
    std::unique_ptr<std::byte[]> larger{capacity > 0 ? new (std::nothrow) std::byte[capacity]
                                                     : nullptr};
    expects(capacity == 0 || larger != nullptr, "memory for a buffer");
    if (!empty()) std::memcpy(larger.get(), space_.get() + begin_, size());
    space_ = std::move(larger);
    capacity_ = capacity;
    end_ -= std::exchange(begin_, 0);
}

}  // namespace gyre
