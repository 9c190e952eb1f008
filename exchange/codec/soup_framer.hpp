// SPDX-License-Identifier: BSL-1.0
//
// Packets out of a stream of bytes that is cut anywhere.
//
// TCP knows no packets: one read can bring half of a length, or twenty packets and a bit. A reader
// gives the bytes here and takes whole packets out; the memory is bounded by the largest packet that
// the receiver is willing to take.
#pragma once

#include <exchange/codec/soup_packet.hpp>

#include <memory>

namespace exchange {

struct soup_framer_options {
    std::size_t payload_bytes_max = 2048;      ///< Longer packets are an error.
    std::size_t buffer_bytes_max = 64 * 1024;  ///< At least one such packet.
};

/// Either a packet, or an error, or neither: more bytes are needed.
struct soup_framed {
    bool complete = false;
    soup_packet packet{};  ///< If complete. Borrowed until the next call of `space`.
    soup_ending ending = soup_ending::none;
};

/// Threads:  One at a time.
/// Cost:     Memory is taken at construction, and not used before there are bytes. Bytes are moved only
///           when a packet straddles the end.
class soup_framer {
public:
    explicit soup_framer(const soup_framer_options& options = {});

    /// Where the next bytes from the peer belong. Never empty once `next` has nothing more to give.
    [[nodiscard]] std::span<std::byte> space() noexcept;

    /// @param  size  How much of `space()` was filled.
    void received(std::size_t size) noexcept;

    /// The next whole packet.
    ///
    /// Errors: `empty_packet`, `oversized_packet`, both for good: behind them nothing can be told apart.
    [[nodiscard]] soup_framed next() noexcept;

    /// Bytes that are no whole packet yet. Non-zero when the peer leaves: the last one is torn.
    [[nodiscard]] std::size_t pending_bytes() const noexcept { return end_ - begin_; }

    /// For a new connection: forgets what is pending.
    void reset() noexcept { begin_ = end_ = 0; }

private:
    [[nodiscard]] std::span<std::byte> bytes() const noexcept { return {bytes_.get(), size_}; }

    std::unique_ptr<std::byte[]> bytes_;  // Whatever they are: only what was received is looked at.
    std::size_t size_;
    std::size_t payload_bytes_max_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;  // Invariant: begin_ <= end_ <= size_.
};

}  // namespace exchange
