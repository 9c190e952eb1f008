// SPDX-License-Identifier: BSL-1.0
//
// What a stream of bytes is, whatever transport carries it.
//
// Algorithms and protocols are written against these, so that they run on a socket and on a
// pipe in memory (memory_pipe.hpp) that needs no kernel at all.
#pragma once

#include <gyre/base/buffer.hpp>
#include <gyre/base/lease.hpp>
#include <gyre/base/result.hpp>
#include <gyre/coro/awaitable.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace gyre {

/// A source of bytes in order. `read_some` completes with zero bytes only together with an error, or
/// into an empty buffer; it never reports an error together with bytes; the end is `errc::eof`.
template <class Stream>
concept read_stream = requires(Stream& stream, mutable_buffer into) {
    { stream.read_some(into) } -> awaitable_of<io_result<std::size_t>>;
};

/// A sink of bytes in order. `write_some` takes at least one byte of a non-empty buffer, or fails.
template <class Stream>
concept write_stream = requires(Stream& stream, const_buffer from) {
    { stream.write_some(from) } -> awaitable_of<io_result<std::size_t>>;
};

/// A source that also lends the memory that it reads into; `read` completes with at least one byte, or
/// with an empty lease and an error.
template <class Stream>
concept lease_stream = read_stream<Stream> && requires(Stream& stream) {
    { stream.read() } -> awaitable_of<io_result<buffer_lease>>;
};

/// A stream that is read and written.
template <class Stream>
concept duplex_stream = read_stream<Stream> && write_stream<Stream>;

/// A sink whose direction ends by itself: the peer reads `errc::eof` after what was written, and what it
/// sends still arrives.
template <class Stream>
concept half_closing_stream =
    write_stream<Stream> && requires(Stream& stream) { stream.shutdown_send(); };

/// Ends the sending direction of a stream; nothing, successfully, if it has no end of its own.
///
/// Errors: those of `of.shutdown_send()`.
template <class Stream>
io_result<> end_sending(Stream& of) noexcept {
    if constexpr (half_closing_stream<Stream>) {
        if constexpr (std::is_void_v<decltype(of.shutdown_send())>) of.shutdown_send();
        else return of.shutdown_send();
    }
    return {};
}

/// A stream that knows of bytes which move below its reads and writes: what its peer takes of what was
/// written before, or a record of TLS that is not whole yet. `traffic` is another number after each of them.
template <class Stream>
concept traffic_stream = requires(const Stream& stream) {
    { stream.traffic() } noexcept -> std::same_as<std::uint64_t>;
};

/// The traffic of a stream; always 0 if it knows of none. silence.hpp says what it is for.
///
/// Cost: of sockets one or two system calls.
template <class Stream>
[[nodiscard]] std::uint64_t traffic_of(const Stream& of) noexcept {
    if constexpr (traffic_stream<Stream>) return of.traffic();
    else return 0;
}

}  // namespace gyre
