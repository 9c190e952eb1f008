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
#include <span>
#include <string>
#include <string_view>

namespace gyre {

using mutable_buffer = std::span<std::byte>;      ///< Borrowed bytes to be filled.
using const_buffer = std::span<const std::byte>;  ///< Borrowed bytes to be sent.

/// A list of buffers for one gathered write or scattered read; borrowed, as are the buffers in it.
using const_buffers = std::span<const const_buffer>;
using mutable_buffers = std::span<const mutable_buffer>;

/// Most buffers one gathered or scattered call takes; the rest is left for the next call.
inline constexpr std::size_t buffers_per_call_max = 64;

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

/// The number of bytes in all `buffers` together.
template <class Buffers>
[[nodiscard]] constexpr std::size_t size_of(const Buffers& buffers) noexcept {
    std::size_t total = 0;
    for (const auto& buffer : buffers) total += buffer.size();
    return total;
}

}  // namespace gyre
