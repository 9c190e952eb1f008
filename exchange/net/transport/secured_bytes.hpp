// SPDX-License-Identifier: BSL-1.0
//
// The security of a transport's connection, if it has any: what stands between both in each direction.
//
// packet_stream.hpp and websocket_packets.hpp have one each. Where nothing is secured it costs a comparison.
#pragma once

#include <exchange/net/transport/channel_security.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

namespace exchange {

/// Threads:  One at a time.
class secured_bytes {
public:
    /// For a connection that begins.
    ///
    /// @param  by  Null: nothing secures it.
    void open(channel_security* by, const secure_channel_end& end) {
        offer_ = {};
        taken_ = 0;
        channel_ = by != nullptr ? by->open(end) : nullptr;
    }
    void release() noexcept { channel_.reset(); }

    [[nodiscard]] explicit operator bool() const noexcept { return channel_ != nullptr; }
    [[nodiscard]] secure_channel& operator*() const noexcept { return *channel_; }
    [[nodiscard]] secure_channel* operator->() const noexcept { return channel_.get(); }

    /// May bytes of the transport be written?
    [[nodiscard]] bool passes() const noexcept { return !channel_ || channel_->open(); }
    [[nodiscard]] bool owes() const noexcept { return channel_ && !channel_->output().empty(); }

    /// What to write of `parts`, as a list for the socket: themselves if nothing is secured. Valid until
    /// `sent`.
    [[nodiscard]] std::span<const std::span<const std::byte>> offer(
        std::span<const std::span<const std::byte>> parts) noexcept {
        if (!channel_) return parts;
        taken_ = channel_->write(parts);
        offer_ = channel_->output();
        return {&offer_, 1};
    }
    /// @param  size  How much of the offer was written.
    /// @return How much of the parts was taken.
    [[nodiscard]] std::size_t sent(std::size_t size) noexcept {
        if (!channel_) return size;
        channel_->sent(size);
        return std::exchange(taken_, 0);
    }

private:
    std::unique_ptr<secure_channel> channel_;
    std::span<const std::byte> offer_;  // Being written.
    std::size_t taken_ = 0;
};

}  // namespace exchange
