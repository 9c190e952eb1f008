// SPDX-License-Identifier: BSL-1.0
//
// gyre's buffers as Asio wants to see them, without a copy of the list.
#pragma once

#include <gyre/base/buffer.hpp>

#include <boost/asio/buffer.hpp>

#include <cstddef>
#include <iterator>

namespace exchange {

[[nodiscard]] inline boost::asio::mutable_buffer asio_buffer(gyre::mutable_buffer from) noexcept {
    return {from.data(), from.size()};
}
[[nodiscard]] inline boost::asio::const_buffer asio_buffer(gyre::const_buffer from) noexcept {
    return {from.data(), from.size()};
}

/// A list of buffers for a gathered write, borrowed: a buffer sequence of Asio's.
class asio_buffers {
public:
    explicit asio_buffers(gyre::const_buffers list) noexcept : list_{list} {}

    class iterator {
    public:
        using iterator_category = std::bidirectional_iterator_tag;
        using value_type = boost::asio::const_buffer;
        using difference_type = std::ptrdiff_t;
        using pointer = void;
        using reference = value_type;

        iterator() noexcept = default;
        explicit iterator(const gyre::const_buffer* at) noexcept : at_{at} {}

        [[nodiscard]] value_type operator*() const noexcept { return asio_buffer(*at_); }
        iterator& operator++() noexcept {
            ++at_;
            return *this;
        }
        iterator operator++(int) noexcept { return iterator{at_++}; }
        iterator& operator--() noexcept {
            --at_;
            return *this;
        }
        iterator operator--(int) noexcept { return iterator{at_--}; }
        [[nodiscard]] friend bool operator==(iterator, iterator) noexcept = default;

    private:
        const gyre::const_buffer* at_ = nullptr;
    };

    [[nodiscard]] iterator begin() const noexcept { return iterator{list_.data()}; }
    [[nodiscard]] iterator end() const noexcept { return iterator{list_.data() + list_.size()}; }

private:
    gyre::const_buffers list_;
};

static_assert(boost::asio::is_const_buffer_sequence<asio_buffers>::value);

}  // namespace exchange
