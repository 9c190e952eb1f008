// SPDX-License-Identifier: BSL-1.0
//
// Sockets fill in operations: see include/gyre/io/stream_socket.hpp.
#include <gyre/io/stream_socket.hpp>

#include <gyre/sync/timeout.hpp>
#include <io/socket_steps.hpp>

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace gyre {
namespace {

// linux/tcp.h: TCP_INFO, up to tcpi_bytes_acked (Linux 4.1).
struct bytes_acknowledged {
    using representation = std::array<std::uint64_t, 16>;

    std::uint64_t bytes = 0;

    [[nodiscard]] static int level() noexcept { return option_level::tcp; }
    [[nodiscard]] static int name() noexcept { return 11; }
    [[nodiscard]] static bytes_acknowledged from_raw(const representation& raw) noexcept {
        return {raw.back()};
    }
};

// linux/sock_diag.h: SO_MEMINFO, of which SK_MEMINFO_WMEM_ALLOC is what was written and is not taken.
struct unsent_memory {
    using representation = std::array<std::uint32_t, 9>;

    std::uint32_t bytes = 0;

    [[nodiscard]] static int level() noexcept { return SOL_SOCKET; }
    [[nodiscard]] static int name() noexcept { return SO_MEMINFO; }
    [[nodiscard]] static unsent_memory from_raw(const representation& raw) noexcept {
        constexpr std::size_t written = 2;
        return {raw[written]};
    }
};

// Two sides that connect to each other at once meet (RFC 9293 3.5), and a socket that the kernel has given
// the port that it connects to is both of them. Nothing listens there, so it is refused as elsewhere.
error refusal_of_itself(const stream_socket& it, const endpoint& peer) noexcept {
    if (peer.kind() == endpoint::family::local) return {};
    const io_result<endpoint> local = it.local_endpoint();
    if (!local.ok()) return local.error();
    if (local.value().port() != peer.port()) return {};
    const io_result<endpoint> remote = it.remote_endpoint();
    if (!remote.ok() || local.value() != remote.value()) return {};
    return {errc::connection_refused, activity::connect};
}

}  // namespace

std::uint64_t stream_socket::traffic() const noexcept {
    const io_result<bytes_acknowledged> taken = get_option<bytes_acknowledged>();
    if (taken.ok()) return taken.value().bytes;
    const io_result<unsent_memory> left = get_option<unsent_memory>();
    return left.ok() ? std::uint64_t{0} - left.value().bytes : 0;
}

std::int32_t open_for_connect(connect_operation& op, const endpoint& peer, int type, io_context& on,
                              handle& into) noexcept {
    const endpoint::family kind = peer.kind();
    if (kind == endpoint::family::none) return -EINVAL;

    // A try needs it, and here it takes no call of its own; a ring would only be disturbed.
    const bool tried = on.tries_first() || kind == endpoint::family::local;
    open_socket_operation open{peer.address_family(), type | (tried ? SOCK_NONBLOCK : 0)};
    const int number = on.host().perform_now(open);
    if (number < 0) return number;
    into = handle{on.host(), number};
    op.target = &into.slot();
    op.target->nonblocking = tried;
    op.target->family = static_cast<std::uint16_t>(open.family);
    op.peer = &peer.raw();
    if (kind == endpoint::family::local) return 0;

    int enabled = 1;
    option_operation quick{opcode::set_option, *op.target, no_delay::level(),
                           no_delay::name(),   &enabled,   sizeof enabled};
    return std::min(on.host().perform_now(quick), 0);
}

std::int32_t finish_connect::prepare(connect_operation& op, io_context& on) noexcept {
    return open_for_connect(op, peer_, SOCK_STREAM, on, socket_);
}

io_result<stream_socket> finish_connect::operator()(const connect_operation& op) noexcept {
    if (const error failed = error_of(op)) {
        socket_.close();
        return failed;
    }
    stream_socket connected{std::move(socket_)};
    if (const error refused = refusal_of_itself(connected, peer_)) return refused;
    return connected;
}

std::int32_t finish_prepared_connect::prepare(connect_operation& op, io_context& on) noexcept {
    handle open;
    if (const std::int32_t failed = open_for_connect(op, peer_, SOCK_STREAM, on, open); failed < 0)
        return failed;
    socket_ = stream_socket{std::move(open)};
    socket_steps steps{on.host(), socket_.slot()};
    if (options_.address_reused) steps.set(reuse_address{});
    steps.use_device(options_.device, socket_).call(options_.setup, socket_);
    const endpoint& local = options_.local;
    if (local.kind() != endpoint::family::none) {
        const bool numbered = local.kind() != endpoint::family::local;
        if (numbered && local.port() == 0) steps.set(late_port{});
        steps.bind(local);
    }
    if (steps.failure()) op.peer = nullptr;  // Whose port has no part in that.
    return -static_cast<std::int32_t>(steps.failure().code());
}

io_result<stream_socket> finish_prepared_connect::operator()(const connect_operation& op) noexcept {
    if (const error failed = error_of(op)) {
        static_cast<void>(socket_.close());
        return failed;
    }
    // From a port of the caller's choice it is what was asked for.
    const endpoint& from = options_.local;
    const bool chosen = from.kind() != endpoint::family::none && from.port() != 0;
    const error refused = chosen ? error{} : refusal_of_itself(socket_, peer_);
    if (refused) {
        static_cast<void>(socket_.close());
        return refused;
    }
    return std::move(socket_);
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

task<io_result<>> drop_input(opening from) {
    std::array<std::byte, 1024> space;
    for (;;) {
        submission<receive_operation, finish_read> reading{from, receive_operation{space}};
        const io_result<std::size_t> got = co_await reading;
        if (got.error() == errc::eof) co_return io_result<>{};
        if (!got.ok()) co_return got.error();
    }
}

}  // namespace

task<io_result<>> stream_socket::close_gracefully(opening it, host* on, duration limit) {
    if (!it.lasts()) co_return error{errc::closed, activity::shutdown};
    number_operation op{opcode::shutdown, *it.of, SHUT_WR};
    op.result = on->perform_now(op);
    io_result<> outcome = error_of(op);
    if (outcome.ok()) outcome = co_await shielded(drop_input(it), limit);
    if (!it.lasts()) co_return error{errc::canceled, activity::close};
    const int failed = handle::close(it, on);
    if (outcome.ok() && failed < 0) outcome = error::from_errno(-failed, activity::close);
    co_return outcome;
}

io_result<stream_socket, stream_socket> stream_socket::connected_pair(io_context& on) noexcept {
    make_socket_pair_operation op{SOCK_STREAM};
    op.result = on.host().perform_now(op);
    if (const error failed = error_of(op)) return failed;
    stream_socket left{handle{on.host(), op.numbers[0]}};
    stream_socket right{handle{on.host(), op.numbers[1]}};
    left.slot().family = right.slot().family = AF_UNIX;
    return {error{}, std::move(left), std::move(right)};
}

// TCP would send the bytes and forget the rest. What goes, goes with the first byte, so there has to be one.
std::int32_t finish_passing_write::prepare(message_operation& op, io_context& on) noexcept {
    int family = 0;
    option_operation ask{opcode::get_option, *op.target, SOL_SOCKET,
                         SO_DOMAIN,          &family,    sizeof family};
    if (const int failed = on.host().perform_now(ask); failed < 0) return failed;
    if (family != AF_UNIX) return -EOPNOTSUPP;
    const std::int32_t failure = finish_passing::prepare(op, on);
    return failure == nothing_to_transfer ? -EINVAL : failure;
}

}  // namespace gyre
