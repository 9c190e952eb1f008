// SPDX-License-Identifier: BSL-1.0
//
// Datagrams to be sent, kept together for a Boost.Asio that sends them one by one.
//
// Asio has no call for several datagrams. The batch has gyre's interface, so that the code that
// fills it is written once, and copies what gyre's copies; what it can't do is save system calls.
#pragma once

#include <gyre/base/buffer.hpp>
#include <gyre/base/check.hpp>
#include <gyre/io/endpoint.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace exchange {

/// See gyre::datagram_batch for the contract of each member. Moves, but not while it is being sent.
class asio_datagram_batch {
public:
    asio_datagram_batch(std::size_t capacity, std::size_t datagram_size_max)
        : size_max_{datagram_size_max},
          space_(capacity * datagram_size_max),
          datagrams_(capacity) {}

    [[nodiscard]] std::size_t size() const noexcept { return end_ - begin_; }
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }
    [[nodiscard]] std::size_t capacity() const noexcept { return datagrams_.size(); }
    [[nodiscard]] bool full() const noexcept { return end_ == capacity(); }

    [[nodiscard]] bool append(gyre::const_buffer bytes, const gyre::endpoint& to = {}) noexcept {
        return append(gyre::const_buffers{&bytes, 1}, to);
    }
    [[nodiscard]] bool append(gyre::const_buffers parts, const gyre::endpoint& to = {}) noexcept {
        const std::size_t size = gyre::size_of(parts);
        if (full() || size > size_max_) return false;
        std::byte* space = bytes_at(end_);
        for (const gyre::const_buffer& part : parts) space = std::ranges::copy(part, space).out;
        datagrams_[end_++] = {size, to};
        return true;
    }
    void drop_first() noexcept {
        gyre::expects(!empty(), "a datagram of the batch");
        ++begin_;
        if (empty()) clear();
    }
    void clear() noexcept { begin_ = end_ = 0; }

    [[nodiscard]] gyre::const_buffer operator[](std::size_t index) const noexcept {
        gyre::expects(index < size(), "a datagram of the batch");
        return {space_.data() + (begin_ + index) * size_max_, datagrams_[begin_ + index].size};
    }
    [[nodiscard]] const gyre::endpoint& peer(std::size_t index) const noexcept {
        gyre::expects(index < size(), "a datagram of the batch");
        return datagrams_[begin_ + index].to;
    }

private:
    struct datagram {
        std::size_t size = 0;
        gyre::endpoint to;
    };

    [[nodiscard]] std::byte* bytes_at(std::size_t index) noexcept {
        return space_.data() + index * size_max_;
    }

    // Datagrams from `begin_` to `end_` are in the batch; what is before has been sent.
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    std::size_t size_max_;
    std::vector<std::byte> space_;
    std::vector<datagram> datagrams_;
};

}  // namespace exchange
