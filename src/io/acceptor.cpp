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
    connected.slot().come_from(*op.target);
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

    stream_acceptor made{handle{on.host(), open.result}};
    made.slot().family = static_cast<std::uint16_t>(open.family);
    socket_steps steps{on.host(), made.slot()};
    if (local.kind() != endpoint::family::local) {
        // Accepted sockets inherit it on Linux, which saves a call for each of them.
        steps.set(no_delay{});
        if (options.address_reused) steps.set(reuse_address{});
    }
    if (options.port_shared) steps.set(reuse_port{});
    if (local.kind() == endpoint::family::v6) {
        steps.set(v6_only{options.v6_only});
    }
    steps.use_device(options.device, made).call(options.setup, made);
    if (options.stale_path_removed) {
        steps.bind_over_stale_path(local);
    } else {
        steps.bind(local);
    }
    steps.listen(options.backlog_connections_max);
    if (steps.failure()) return steps.failure();
    return made;
}

stream_acceptor stream_acceptor::adopt(io_context& on, int number) noexcept {
    handle socket{on.host(), number};
    // A Unix-domain socket has no such option, and needs none.
    socket_steps{on.host(), socket.slot()}.set(no_delay{});
    return stream_acceptor{std::move(socket)};
}

}  // namespace gyre
