// SPDX-License-Identifier: BSL-1.0
//
// A message made into frames once, however many peers get it.
//
// A server's frames have no mask, so all peers get the same bytes; those who agreed to compression get the
// same compressed bytes, if their windows are of one size. So the work is that of one peer, and of each
// size once.
#pragma once

#include <gyre/base/buffer.hpp>
#include <gyre/base/result.hpp>
#include <gyre/stream/flat_buffer.hpp>
#include <gyre/stream/shared_bytes.hpp>
#include <gyre/websocket/deflate.hpp>
#include <gyre/websocket/deflate_agreement.hpp>
#include <gyre/websocket/frame.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <optional>

namespace gyre::websocket {

/// How many sizes of windows there are that zlib compresses with: 9 to 15 bits.
inline constexpr std::size_t window_sizes = 7;

/// A server's message as one frame, and what was compressed of it. Copies share the bytes, and may go to
/// other threads; one copy is for one thread at a time.
class prepared_message {
public:
    prepared_message() noexcept = default;  ///< None: nothing is sent.

    /// Makes the frame of a message.
    ///
    /// @param  payload  Copied.
    ///
    /// Errors:  `errc::malformed` for a text that is no UTF-8.
    /// Cost:    a copy of the payload.
    [[nodiscard]] static io_result<prepared_message> make(message_kind kind, const_buffer payload);

    /// The frame that is not compressed.
    [[nodiscard]] const shared_bytes& plain() const noexcept { return plain_; }
    [[nodiscard]] const_buffer payload() const noexcept GYRE_LIFETIMEBOUND {
        return plain_.bytes().subspan(header_bytes_);
    }
    [[nodiscard]] bool empty() const noexcept { return plain_.empty(); }

private:
    friend class frame_compressor;

    message_kind kind_ = message_kind::binary;
    std::size_t header_bytes_ = 0;
    shared_bytes plain_;
    std::array<shared_bytes, window_sizes>
        deflated_;  // By window size; empty until one is asked for.
};

/// Compresses prepared messages. One for all peers of a loop; a deflater for each size of window that they
/// have.
class frame_compressor {
public:
    /// @param  options  Of them, the levels and `bytes_min`.
    explicit frame_compressor(const deflate_options& options = {}) noexcept;

    /// The frame of `of` for a peer with which `agreed` was agreed. Where compression does not pay, the
    /// plain one.
    ///
    /// Cost: a few ns; the first time for a size of window, compressing it: some 10 to 30 ns for each byte.
    [[nodiscard]] const shared_bytes& frame_of(prepared_message& of,
                                               const std::optional<deflate_agreement>& agreed);

private:
    [[nodiscard]] shared_bytes compress(const prepared_message& of, int window_bits);

    deflate_options options_;
    flat_buffer space_;
    std::array<std::optional<deflater>, window_sizes> deflaters_;
};

}  // namespace gyre::websocket
