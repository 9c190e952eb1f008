// SPDX-License-Identifier: BSL-1.0
//
// Whole packets that wait to be written, while others are being written.
//
// A write borrows its bytes until it is complete, and meanwhile a heartbeat may become due. So there are
// two halves: what was offered to the writer stays where it is until it was sent, what comes gathers in
// the other half.
#pragma once

#include <exchange/codec/soup_packet.hpp>

#include <vector>

namespace exchange {

/// Threads:  One at a time.
/// Cost:     All memory is taken at construction.
class soup_outbox {
public:
    explicit soup_outbox(std::size_t bytes_max);
    soup_outbox(soup_outbox&&) noexcept = default;
    soup_outbox& operator=(soup_outbox&&) noexcept = default;
    ~soup_outbox() = default;

    /// Appends a packet.
    ///
    /// @return False if it does not fit, and then nothing happened.
    bool push(soup_type type, std::span<const std::byte> payload = {}) noexcept;

    /// What is to be written next. Stays valid, though more is pushed, until it was `sent` entirely.
    [[nodiscard]] std::span<const std::byte> offer() noexcept;

    /// @param  size  How much of the offer, from its beginning, was written.
    void sent(std::size_t size) noexcept;

    [[nodiscard]] bool empty() const noexcept {
        return offered_.empty() && halves_[filling_].empty();
    }

    void clear() noexcept;

private:
    using bytes = std::vector<std::byte>;

    std::size_t bytes_max_;
    std::array<bytes, 2> halves_;
    std::size_t filling_ = 0;  // Which half takes what is pushed.
    std::span<const std::byte>
        offered_;  // Invariant: the rest of the half that is not being filled.
};

}  // namespace exchange
