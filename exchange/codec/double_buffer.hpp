// SPDX-License-Identifier: BSL-1.0
//
// Bytes that gather while others are being written, in memory that is taken once.
//
// A write borrows its bytes until it is complete, and meanwhile more may come. So there are two halves: what
// was offered to the writer stays where it is until it was sent, what comes gathers in the other one.
// Outboxes of sessions and transports that change what they send are made of it.
#pragma once

#include <gyre/base/check.hpp>

#include <cstddef>
#include <memory>
#include <span>

namespace exchange {

/// Moves, with everything that points into it.
///
/// Threads:  One at a time.
/// Cost:     All memory is taken at construction, and not used before there are bytes.
class double_buffer {
public:
    /// @param  half_bytes  That may gather while as many are being written.
    explicit double_buffer(std::size_t half_bytes)
        : bytes_{std::make_unique_for_overwrite<std::byte[]>(2 * half_bytes)}, half_{half_bytes} {}

    /// Where what comes next belongs. Valid until `add`, `offer` or `clear`.
    [[nodiscard]] std::span<std::byte> space() noexcept {
        return {bytes_.get() + filling_ * half_ + filled_, half_ - filled_};
    }
    /// @param  size  How much of `space()` was filled.
    void add(std::size_t size) noexcept {
        gyre::expects(size <= half_ - filled_, "no more than there was space for");
        filled_ += size;
    }

    /// What is to be written next. Stays valid, though more is added, until it was `sent` entirely.
    [[nodiscard]] std::span<const std::byte> offer() noexcept {
        if (offered_.empty() && filled_ > 0) {
            offered_ = {bytes_.get() + filling_ * half_, filled_};
            filling_ = 1 - filling_;
            filled_ = 0;
        }
        return offered_;
    }
    /// @param  size  How much of the offer, from its beginning, was written.
    void sent(std::size_t size) noexcept {
        gyre::expects(size <= offered_.size(), "no more than was offered");
        offered_ = offered_.subspan(size);
    }

    /// Is there nothing to write?
    [[nodiscard]] bool empty() const noexcept { return offered_.empty() && filled_ == 0; }

    void clear() noexcept {
        offered_ = {};
        filled_ = 0;
    }

private:
    std::unique_ptr<std::byte[]> bytes_;
    std::size_t half_;
    std::size_t filling_ = 0;  // Which half takes what comes.
    std::size_t filled_ = 0;   // Of it. Invariant: half_ at most.
    std::span<const std::byte>
        offered_;  // Invariant: the rest of the half that is not being filled.
};

}  // namespace exchange
