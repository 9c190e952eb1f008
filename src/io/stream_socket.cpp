// SPDX-License-Identifier: BSL-1.0
//
// Sockets fill in operations: see include/gyre/io/stream_socket.hpp.
#include <gyre/io/stream_socket.hpp>

#include <gyre/sync/timeout.hpp>

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

namespace gyre {

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
