// SPDX-License-Identifier: BSL-1.0
//
// Bytes that the caller owns: the two views that all reading and writing goes through.
//
// They are plain spans, so arrays, vectors and sub-ranges convert by themselves; these few functions
// cover what spans lack: text, and lists of buffers for gather and scatter.
#pragma once

#include <gyre/base/build.hpp>

#include <concepts>
#include <cstddef>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace gyre {

using mutable_buffer = std::span<std::byte>;      ///< Borrowed bytes to be filled.
using const_buffer = std::span<const std::byte>;  ///< Borrowed bytes to be sent.

/// A list of buffers for one gathered write or scattered read; borrowed, as are the buffers in it.
using const_buffers = std::span<const const_buffer>;
/// A list of buffers for one scattered read; borrowed, as are the buffers in it.
using mutable_buffers = std::span<const mutable_buffer>;

/// Most buffers one gathered or scattered call takes; the rest is left for the next call. Their list is kept
/// in the caller's frame, 16 bytes each, and beyond eight the kernel has to allocate for it.
inline constexpr std::size_t buffers_per_call_max = 16;

/// The bytes of `text`, borrowed.
[[nodiscard]] inline const_buffer bytes_of(std::string_view text GYRE_LIFETIMEBOUND) noexcept {
    return std::as_bytes(std::span{text.data(), text.size()});
}

/// The same of a string itself, so that compilers see when the bytes of one are kept that is gone.
template <std::same_as<std::string> String>
[[nodiscard]] const_buffer bytes_of(const String& text GYRE_LIFETIMEBOUND) noexcept {
    return bytes_of(std::string_view{text});
}

/// `buffer` seen as text, borrowed. No encoding is checked.
[[nodiscard]] inline std::string_view text_of(const_buffer buffer GYRE_LIFETIMEBOUND) noexcept {
    return {reinterpret_cast<const char*>(buffer.data()), buffer.size()};
}

/// Text that can be written to: `char` arrays, strings, vectors of `unsigned char`, ...
template <class Text>
concept writable_text = requires(Text& text) {
    { std::ranges::size(text) } -> std::convertible_to<std::size_t>;
    requires std::same_as<decltype(std::ranges::data(text)), char*> ||
                 std::same_as<decltype(std::ranges::data(text)), unsigned char*>;
};

/// What a read fills, as its parameter, borrowed: whatever is a `mutable_buffer` by itself, and writable
/// text, which spans of bytes do not take. A string is filled up to its size.
class read_space {
public:
    constexpr read_space() noexcept = default;  ///< Empty.
    template <std::convertible_to<mutable_buffer> Memory>
    constexpr read_space(Memory&& memory) noexcept : bytes_{std::forward<Memory>(memory)} {}
    template <writable_text Text>
    read_space(Text& text) noexcept
        : bytes_{std::as_writable_bytes(
              std::span{std::ranges::data(text), std::size_t{std::ranges::size(text)}})} {}
    constexpr read_space(std::byte* data, std::size_t size) noexcept : bytes_{data, size} {}

    constexpr operator mutable_buffer() const noexcept { return bytes_; }

private:
    mutable_buffer bytes_;
};

/// The number of bytes in all `buffers` together.
template <class Buffers>
[[nodiscard]] constexpr std::size_t size_of(const Buffers& buffers) noexcept {
    std::size_t total = 0;
    for (const auto& buffer : buffers) total += buffer.size();
    return total;
}

}  // namespace gyre
