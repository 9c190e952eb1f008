// SPDX-License-Identifier: BSL-1.0
//
// Buffers as the kernel wants them, and who may write: see include/gyre/io/transfer.hpp.
#include <gyre/io/transfer.hpp>

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace gyre {

static_assert(sizeof(msghdr) == 7 * sizeof(std::uint64_t));

std::int32_t busy_if_written(descriptor_slot& on) noexcept {
    const bool busy = on.writer != nullptr || on.pending.find([](const operation& other) {
        return writes_in_order(other);
    }) != nullptr;
    return busy ? -EBUSY : 0;
}

void write_claim::hold(const descriptor_operation& op, const io_context& on) noexcept {
    descriptor_slot& it = *op.target;
    if (it.home != nullptr && it.home != &on) return;  // `io_context::submit` will say so.
    it.writer = this;
    on_ = {&it, it.generation.load(std::memory_order_relaxed)};
}

void write_claim::release() noexcept {
    // Of another opening it would be another's claim, perhaps on another loop.
    if (on_.lasts()) on_.of->writer = nullptr;
    on_ = {};
}

buffer_parts::buffer_parts(const_buffers from) noexcept {
    for (const const_buffer& each : from.first(std::min(from.size(), buffers_per_call_max))) {
        // iovec has no const; what writes does not write through it.
        parts_[count_++] = {const_cast<std::byte*>(each.data()), each.size()};
        bytes_ += each.size();
    }
}

buffer_parts::buffer_parts(const_buffers from, std::size_t skipped) noexcept : buffer_parts{from} {
    if (skipped == 0) return;
    parts_[0].data = static_cast<std::byte*>(parts_[0].data) + skipped;
    parts_[0].size -= skipped;
    bytes_ -= skipped;
}

buffer_parts::buffer_parts(mutable_buffers into) noexcept {
    for (const mutable_buffer& each : into.first(std::min(into.size(), buffers_per_call_max))) {
        parts_[count_++] = {each.data(), each.size()};
        bytes_ += each.size();
    }
}

std::int32_t buffer_parts::prepare(parts_operation& op, io_context& on) noexcept {
    static_assert(sizeof(part) == sizeof(iovec) && offsetof(iovec, iov_len) == sizeof(void*));
    op.parts = reinterpret_cast<iovec*>(parts_.data());
    op.count = static_cast<std::uint32_t>(count_);
    op.size = bytes_;
    if (bytes_ == 0) return nothing_to_transfer;
    return writes_in_order(op) ? refuse_second_writer(op, on) : 0;
}

io_result<std::size_t> buffer_parts::operator()(const parts_operation& op) const noexcept {
    return op.code == opcode::read_scatter ? outcome_of_read(op, bytes_) : outcome_of_write(op);
}

std::int32_t message_parts::prepare(message_operation& op, io_context& on) noexcept {
    msghdr header{};
    header.msg_iov = reinterpret_cast<iovec*>(parts_.data());
    header.msg_iovlen = count_;
    std::memcpy(header_.data(), &header, sizeof header);
    op.message = reinterpret_cast<msghdr*>(header_.data());
    op.size = bytes_;
    if (bytes_ == 0) return nothing_to_transfer;
    return writes_in_order(op) ? refuse_second_writer(op, on) : 0;
}

io_result<std::size_t> message_parts::operator()(const message_operation& op) const noexcept {
    return op.code == opcode::receive_scatter ? outcome_of_read(op, bytes_) : outcome_of_write(op);
}

}  // namespace gyre
