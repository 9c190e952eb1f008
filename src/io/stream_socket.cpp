// SPDX-License-Identifier: BSL-1.0
//
// Sockets fill in operations: see include/gyre/io/stream_socket.hpp.
#include <gyre/io/stream_socket.hpp>

#include <gyre/sync/timeout.hpp>

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace gyre {

static_assert(sizeof(msghdr) == 7 * sizeof(std::uint64_t));

message_parts::message_parts(const_buffers from) noexcept {
    for (const const_buffer& each : from.first(std::min(from.size(), buffers_per_call_max))) {
        // iovec has no const; sendmsg(2) does not write through it.
        parts_[count_++] = {const_cast<std::byte*>(each.data()), each.size()};
        bytes_ += each.size();
    }
}

message_parts::message_parts(const_buffers from, std::size_t skipped) noexcept
    : message_parts{from} {
    if (skipped == 0) return;
    parts_[0].data = static_cast<std::byte*>(parts_[0].data) + skipped;
    parts_[0].size -= skipped;
    bytes_ -= skipped;
}

message_parts::message_parts(mutable_buffers into) noexcept {
    for (const mutable_buffer& each : into.first(std::min(into.size(), buffers_per_call_max))) {
        parts_[count_++] = {each.data(), each.size()};
        bytes_ += each.size();
    }
}

std::int32_t busy_if_written(descriptor_slot& on) noexcept {
    bool busy = on.writer != nullptr;
    on.pending.for_each([&](const operation& other) {
        busy = busy || other.code == opcode::send || other.code == opcode::send_gather;
    });
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

std::int32_t message_parts::prepare(message_operation& op, io_context& on) noexcept {
    static_assert(sizeof(part) == sizeof(iovec) && offsetof(iovec, iov_len) == sizeof(void*));
    msghdr header{};
    header.msg_iov = reinterpret_cast<iovec*>(parts_.data());
    header.msg_iovlen = count_;
    std::memcpy(header_.data(), &header, sizeof header);
    op.message = reinterpret_cast<msghdr*>(header_.data());
    op.size = bytes_;
    if (bytes_ == 0) return nothing_to_transfer;
    return op.code == opcode::send_gather ? refuse_second_writer(op, on) : 0;
}

io_result<std::size_t> message_parts::operator()(const message_operation& op) const noexcept {
    if (op.result == nothing_to_transfer) return std::size_t{0};
    if (op.result < 0) return error_of(op);
    if (op.result == 0 && bytes_ != 0 && op.code == opcode::receive_scatter) {
        return error{errc::eof, activity::read};
    }
    return static_cast<std::size_t>(op.result);
}

std::int32_t finish_connect::prepare(connect_operation& op, io_context& on) noexcept {
    const endpoint::family kind = peer_.kind();
    if (kind == endpoint::family::none) return -EINVAL;

    // A try needs it, and here it takes no call of its own; a ring would only be disturbed.
    const bool tried = on.tries_first() || kind == endpoint::family::local;
    open_socket_operation open{peer_.address_family(), SOCK_STREAM | (tried ? SOCK_NONBLOCK : 0)};
    const int number = on.host().perform_now(open);
    if (number < 0) return number;
    socket_ = handle{on.host(), number};
    op.target = &socket_.slot();
    op.target->nonblocking = tried;
    op.target->family = static_cast<std::uint16_t>(open.family);
    op.peer = &peer_.raw();
    if (kind == endpoint::family::local) return 0;

    int enabled = 1;
    option_operation quick{opcode::set_option, *op.target, no_delay::level(),
                           no_delay::name(),   &enabled,   sizeof enabled};
    return std::min(on.host().perform_now(quick), 0);
}

io_result<stream_socket> finish_connect::operator()(const connect_operation& op) noexcept {
    if (const error failed = error_of(op)) {
        socket_.close();
        return failed;
    }
    return stream_socket{std::move(socket_)};
}

submission<wait_ready_operation, finish_wait> stream_socket::wait(readiness what) noexcept {
    const std::uint32_t events = what == readiness::readable ? POLLIN : POLLOUT;
    return submission<wait_ready_operation, finish_wait>{opened(), wait_ready_operation{events}};
}

io_result<> stream_socket::shutdown(shutdown_side side) noexcept {
    if (!is_open()) return error{errc::closed, activity::shutdown};
    constexpr int sides[] = {SHUT_RD, SHUT_WR, SHUT_RDWR};
    number_operation op{opcode::shutdown, slot(), sides[static_cast<std::size_t>(side)]};
    return perform_now(op);
}

// RFC 9293 3.6: closing with unread input sends a reset, and a reset makes the peer's kernel drop what
// its program has not read. So the input is read to its end first.
namespace {

task<io_result<>> drop_input(stream_socket& from) {
    std::array<std::byte, 1024> space;
    for (;;) {
        const io_result<std::size_t> got = co_await from.read_some(mutable_buffer{space});
        if (got.error() == errc::eof) co_return io_result<>{};
        if (!got.ok()) co_return got.error();
    }
}

}  // namespace

task<io_result<>> stream_socket::close_gracefully(duration limit) {
    io_result<> outcome = shutdown(shutdown_side::send);
    if (outcome.ok()) outcome = co_await shielded(drop_input(*this), limit);
    const io_result<> closed = close();
    co_return outcome.ok() ? closed : outcome;
}

}  // namespace gyre
