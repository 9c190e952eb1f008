// SPDX-License-Identifier: BSL-1.0
//
// Messages as the kernel wants them: see include/gyre/io/datagram_message.hpp.
#include <gyre/io/datagram_message.hpp>

#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstring>

namespace gyre {

static_assert(sizeof(msghdr) == 7 * sizeof(std::uint64_t));

void datagram_message::add(const void* data, std::size_t size) noexcept {
    if (count_ == parts_max) {
        too_many_ = true;
        return;
    }
    // iovec has no const; sendmsg(2) does not write through it.
    parts_[count_++] = {const_cast<void*>(data), size};
    bytes_ += size;
}

datagram_message::datagram_message(const_buffers from, const endpoint& to) noexcept
    : peer_{to.raw()} {
    for (const const_buffer& each : from) add(each.data(), each.size());
}

datagram_message::datagram_message(mutable_buffers into) noexcept {
    for (const mutable_buffer& each : into) add(each.data(), each.size());
}

std::int32_t datagram_message::prepare(message_operation& op, io_context&) noexcept {
    static_assert(sizeof(part) == sizeof(iovec) && offsetof(iovec, iov_len) == sizeof(void*));
    if (too_many_) return -EINVAL;
    const bool receiving = op.code == opcode::receive_scatter;
    msghdr header{};
    header.msg_iov = reinterpret_cast<iovec*>(parts_.data());
    header.msg_iovlen = count_;
    if (receiving || peer_.size != 0) {
        header.msg_name = peer_.data;
        header.msg_namelen = receiving ? socket_address::size_max : peer_.size;
    }
    std::memcpy(header_.data(), &header, sizeof header);
    op.message = reinterpret_cast<msghdr*>(header_.data());
    op.size = bytes_;
    return 0;
}

void attach_control(message_operation& op, std::span<std::byte> control) noexcept {
    op.message->msg_control = control.data();
    op.message->msg_controllen = control.size();
}

received_datagram datagram_message::received(const message_operation& op) const noexcept {
    msghdr header;
    std::memcpy(&header, header_.data(), sizeof header);
    return {static_cast<std::size_t>(op.result), (header.msg_flags & MSG_TRUNC) != 0};
}

endpoint datagram_message::peer() const noexcept {
    msghdr header;
    std::memcpy(&header, header_.data(), sizeof header);
    socket_address found = peer_;
    found.size = header.msg_namelen;
    return endpoint{found};
}

}  // namespace gyre
