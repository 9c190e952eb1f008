// SPDX-License-Identifier: BSL-1.0
//
// Listening and accepting: see include/gyre/io/acceptor.hpp.
#include <gyre/io/acceptor.hpp>

#include <sys/socket.h>

#include <cerrno>

namespace gyre {
namespace {

// The steps from a new socket to a listening one; the first that fails ends it.
class listening {
public:
    listening(host& on, handle& socket) noexcept : host_{on}, socket_{socket} {}

    listening& switch_on(int level, int name) noexcept {
        int enabled = 1;
        option_operation op{opcode::set_option, socket_.slot(), level, name,
                            &enabled,           sizeof enabled};
        return step(op);
    }
    listening& bind(const endpoint& local) noexcept {
        socket_address address = local.raw();
        address_operation op{opcode::bind, socket_.slot(), address};
        return step(op);
    }
    listening& listen(int backlog) noexcept {
        number_operation op{opcode::listen, socket_.slot(), backlog};
        return step(op);
    }
    [[nodiscard]] error failure() const noexcept { return failure_; }

private:
    listening& step(operation& op) noexcept {
        if (failure_) return *this;
        op.result = host_.perform_now(op);
        failure_ = error_of(op);
        return *this;
    }

    host& host_;
    handle& socket_;
    error failure_;
};

io_result<stream_socket> accepted(const accept_operation& op, host* on) noexcept {
    if (const error failed = error_of(op)) return failed;
    return stream_socket{handle{*on, op.result}};
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
    listening steps{on.host(), socket};
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

io_result<> stream_acceptor::close() noexcept {
    const int failed = handle_.close();
    if (failed == -EBADF) return error{errc::closed, activity::close};
    if (failed < 0) return error::from_errno(-failed, activity::close);
    return {};
}

io_result<endpoint> stream_acceptor::local_endpoint() const noexcept {
    if (!is_open()) return error{errc::closed, activity::endpoint};
    socket_address found;
    address_operation op{opcode::local_address, handle_.slot(), found};
    op.result = handle_.on().perform_now(op);
    if (const error failed = error_of(op)) return failed;
    return endpoint{found};
}

}  // namespace gyre
