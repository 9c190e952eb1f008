// SPDX-License-Identifier: BSL-1.0
//
// Listening and accepting: see include/gyre/io/acceptor.hpp.
#include <gyre/io/acceptor.hpp>

#include <io/socket_steps.hpp>

#include <sys/socket.h>

#include <cerrno>

namespace gyre {
namespace {

io_result<stream_socket> accepted(const accept_operation& op, host* on) noexcept {
    if (const error failed = error_of(op)) return failed;
    handle connected{*on, op.result};
    connected.slot().family = op.target->family;
    return stream_socket{std::move(connected)};
}

}  // namespace

std::int32_t finish_accept::prepare(accept_operation&, io_context& on) noexcept {
    host_ = &on.host();
    return 0;
}

io_result<stream_socket> finish_accept::operator()(const accept_operation& op) noexcept {
    return accepted(op, host_);
}

std::int32_t finish_accept_from::prepare(accept_operation& op, io_context& on) noexcept {
    host_ = &on.host();
    op.peer = &peer_;
    return 0;
}

io_result<stream_socket, endpoint> finish_accept_from::operator()(
    const accept_operation& op) noexcept {
    io_result<stream_socket> taken = accepted(op, host_);
    if (!taken.ok()) return taken.error();
    return {error{}, taken.take(), endpoint{peer_}};
}

io_result<stream_acceptor> stream_acceptor::listen(io_context& on, const endpoint& local,
                                                   const listen_options& options) noexcept {
    open_socket_operation open{local.address_family(), SOCK_STREAM};
    open.result = on.host().perform_now(open);
    if (const error failed = error_of(open)) return failed;

    handle socket{on.host(), open.result};
    socket.slot().family = static_cast<std::uint16_t>(open.family);
    socket_steps steps{on.host(), socket.slot()};
    if (local.kind() != endpoint::family::local) {
        // Accepted sockets inherit it on Linux, which saves a call for each of them.
        steps.switch_on(no_delay::level(), no_delay::name());
        if (options.address_reused) steps.switch_on(reuse_address::level(), reuse_address::name());
    }
    if (options.port_shared) steps.switch_on(reuse_port::level(), reuse_port::name());
    steps.bind(local).listen(options.backlog_connections_max);
    if (steps.failure()) return steps.failure();
    return stream_acceptor{std::move(socket)};
}

}  // namespace gyre
