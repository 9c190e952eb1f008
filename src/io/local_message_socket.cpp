// SPDX-License-Identifier: BSL-1.0
//
// How they are opened: see include/gyre/io/local_message_socket.hpp.
#include <gyre/io/local_message_socket.hpp>

#include <io/socket_steps.hpp>

#include <sys/socket.h>

#include <cerrno>

namespace gyre {
namespace {

io_result<handle> open_local(io_context& on, int type, const endpoint& local) noexcept {
    const endpoint::family kind = local.kind();
    if (kind != endpoint::family::local && kind != endpoint::family::none)
        return error{errc::address_family_not_supported, activity::open};
    open_socket_operation open{AF_UNIX, type};
    open.result = on.host().perform_now(open);
    if (const error failed = error_of(open)) return failed;
    return handle{on.host(), open.result};
}

template <class Socket>
io_result<Socket, Socket> pair_of(io_context& on, int type) noexcept {
    make_socket_pair_operation op{type};
    op.result = on.host().perform_now(op);
    if (const error failed = error_of(op)) return failed;
    return {error{}, Socket{handle{on.host(), op.numbers[0]}},
            Socket{handle{on.host(), op.numbers[1]}}};
}

}  // namespace

std::int32_t finish_packet_send::prepare(message_operation& op, io_context& on) noexcept {
    const std::int32_t failure = finish_datagram_send::prepare(op, on);
    return failure == 0 && op.size == 0 ? -EINVAL : failure;
}

io_result<local_datagram_socket> local_datagram_socket::bind(io_context& on,
                                                             const endpoint& local) noexcept {
    io_result<handle> opened = open_local(on, SOCK_DGRAM, local);
    if (!opened.ok()) return opened.error();
    local_datagram_socket made{opened.take()};
    if (local.kind() == endpoint::family::none) return made;
    socket_steps steps{on.host(), made.slot()};
    steps.bind_over_stale_path(local);
    if (steps.failure()) return steps.failure();
    return made;
}

io_result<> local_datagram_socket::connect(const endpoint& peer) noexcept {
    if (!is_open()) return error{errc::closed, activity::connect};
    socket_address address = peer.raw();
    address_operation op{opcode::set_peer, slot(), address};
    return perform_now(op);
}

io_result<local_datagram_socket, local_datagram_socket> local_datagram_socket::connected_pair(
    io_context& on) noexcept {
    return pair_of<local_datagram_socket>(on, SOCK_DGRAM);
}

io_result<local_packet_socket, local_packet_socket> local_packet_socket::connected_pair(
    io_context& on) noexcept {
    return pair_of<local_packet_socket>(on, SOCK_SEQPACKET);
}

std::int32_t finish_packet_connect::prepare(connect_operation& op, io_context& on) noexcept {
    if (peer_.kind() != endpoint::family::local) return -EAFNOSUPPORT;
    return open_for_connect(op, peer_, SOCK_SEQPACKET, on, socket_);
}

io_result<local_packet_socket> finish_packet_connect::operator()(
    const connect_operation& op) noexcept {
    if (const error failed = error_of(op)) {
        socket_.close();
        return failed;
    }
    return local_packet_socket{std::move(socket_)};
}

std::int32_t finish_packet_accept::prepare(accept_operation&, io_context& on) noexcept {
    host_ = &on.host();
    return 0;
}

io_result<local_packet_socket> finish_packet_accept::operator()(
    const accept_operation& op) noexcept {
    if (const error failed = error_of(op)) return failed;
    return local_packet_socket{handle{*host_, op.result}};
}

io_result<local_packet_acceptor> local_packet_acceptor::listen(
    io_context& on, const endpoint& local, int backlog_connections_max) noexcept {
    if (local.kind() != endpoint::family::local)
        return error{errc::address_family_not_supported, activity::open};
    io_result<handle> opened = open_local(on, SOCK_SEQPACKET, local);
    if (!opened.ok()) return opened.error();
    local_packet_acceptor made{opened.take()};
    made.slot().family = AF_UNIX;
    socket_steps steps{on.host(), made.slot()};
    steps.bind_over_stale_path(local).listen(backlog_connections_max);
    if (steps.failure()) return steps.failure();
    return made;
}

}  // namespace gyre
