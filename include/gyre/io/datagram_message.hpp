// SPDX-License-Identifier: BSL-1.0
//
// A message that is sent or received whole, as sendmsg(2) and recvmsg(2) want to see it.
//
// Datagrams over UDP and messages over Unix-domain sockets share it; a program meets what it results in.
#pragma once

#include <gyre/base/buffer.hpp>
#include <gyre/base/result.hpp>
#include <gyre/io/endpoint.hpp>
#include <gyre/runtime/submit.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace gyre {

/// What a receive has put into its buffer.
struct received_datagram {
    std::size_t size = 0;    ///< Bytes in the buffer; a datagram may be empty.
    bool truncated = false;  ///< There were more, which are lost.
};

/// Has the kernel take, or fill in, what goes beside the bytes of a prepared message.
///
/// @param  control  Borrowed until completion; aligned for cmsghdr (8).
void attach_control(message_operation& op, std::span<std::byte> control) noexcept;

// Implementation: how raw results become results.

/// Holds what sendmsg(2) and recvmsg(2) want to see, opaquely.
class datagram_message {
public:
    static constexpr std::size_t parts_max = 8;

    explicit datagram_message(const_buffers from, const endpoint& to = {}) noexcept;
    explicit datagram_message(mutable_buffers into) noexcept;

    [[nodiscard]] std::int32_t prepare(message_operation& op, io_context&) noexcept;

    [[nodiscard]] received_datagram received(const message_operation& op) const noexcept;
    [[nodiscard]] endpoint peer() const noexcept;

private:
    struct part {
        void* data;
        std::size_t size;
    };
    static constexpr std::size_t header_words = 7;  // sizeof(msghdr) on every 64-bit Linux.

    void add(const void* data, std::size_t size) noexcept;

    std::array<part, parts_max> parts_;
    std::size_t count_ = 0;
    std::size_t bytes_ = 0;
    bool too_many_ = false;
    socket_address peer_;
    std::array<std::uint64_t, header_words> header_{};
};

struct finish_datagram_send : datagram_message {
    using datagram_message::datagram_message;
    [[nodiscard]] io_result<> operator()(const message_operation& op) const noexcept {
        return error_of(op);
    }
};

struct finish_datagram_receive : datagram_message {
    using datagram_message::datagram_message;
    [[nodiscard]] io_result<received_datagram> operator()(
        const message_operation& op) const noexcept {
        if (op.result < 0) return error_of(op);
        return received(op);
    }
};

struct finish_datagram_receive_from : datagram_message {
    using datagram_message::datagram_message;
    [[nodiscard]] io_result<received_datagram, endpoint> operator()(
        const message_operation& op) const noexcept {
        if (op.result < 0) return error_of(op);
        return {error{}, received(op), peer()};
    }
};

}  // namespace gyre
