// SPDX-License-Identifier: BSL-1.0
//
// Every system call that operations come down to, one case each.
//
// Immediate operations are answered here for all backends. Pollable ones are *tried* here: by epoll
// as its way of working, by io_uring where a call on the spot is cheaper than an entry. A try never
// blocks; -EAGAIN means "wait until it is ready".
#include <runtime/system_host.hpp>

#include <gyre/base/check.hpp>
#include <gyre/base/lease.hpp>

#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace gyre {
namespace {

sockaddr* raw(socket_address& address) noexcept {
    return reinterpret_cast<sockaddr*>(address.data);
}
const sockaddr* raw(const socket_address& address) noexcept {
    return reinterpret_cast<const sockaddr*>(address.data);
}

// accept and connect have no flag for a single try, so the descriptor itself must not block.
int make_nonblocking(descriptor_slot& it) noexcept {
    if (it.nonblocking) return 0;
    const int flags = ::fcntl(it.number, F_GETFL);
    if (flags < 0 || ::fcntl(it.number, F_SETFL, flags | O_NONBLOCK) < 0) return -errno;
    it.nonblocking = true;
    return 0;
}

// Where its maker has not noted it.
void learn_family(descriptor_slot& it) noexcept {
    int family = 0;
    socklen_t size = sizeof family;
    const int failed = ::getsockopt(it.number, SOL_SOCKET, SO_DOMAIN, &family, &size);
    it.family = static_cast<std::uint16_t>(failed != 0 ? AF_MAX : family);
}

// recvmsg tells where a Unix-domain socket has ended a read because of descriptors that came with it.
int receive_local(descriptor_slot& from, std::byte* into, std::size_t size, int flags) noexcept {
    iovec part{into, size};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    const int result = outcome(::recvmsg(from.number, &message, MSG_DONTWAIT | flags));
    from.uncut = result > 0 && (message.msg_flags & MSG_CTRUNC) == 0;
    return result;
}

int receive(descriptor_slot& from, std::byte* into, std::size_t size, int flags) noexcept {
    if (from.family == AF_UNSPEC) learn_family(from);
    // Only epoll draws conclusions from it, and only of sockets that it has an eye on.
    const int result = from.family == AF_UNIX && from.registered
                           ? receive_local(from, into, size, flags)
                           : outcome(::recv(from.number, into, size, MSG_DONTWAIT | flags));
    if (from.listener != nullptr) from.note_first_read(result == -EAGAIN);
    return result;
}

int try_receive(receive_operation& op) noexcept {
    return receive(*op.target, op.data, op.size, op.peeks ? MSG_PEEK : 0);
}

int try_receive(lease_operation& op) noexcept {
    std::byte* const block = op.pool->lend();
    const int result = receive(*op.target, block, op.size, 0);
    if (result > 0) {
        op.block = block;
    } else {
        op.pool->take_back(block);
    }
    return result;
}

// TCP cuts a send into packets of at most 64 KiB, headers included, for the device (or loopback) to
// segment, so calls of nearly that size waste none. And small steps keep what is under way in the
// cache: 1 MiB at once moved 3.8 GB/s, now 9.1 (docs/decisions/0005-fast-paths.md). Of a message up to
// 128 KiB stay whole: in two calls an echo server took 4 % longer with 64 KiB, and with 100 KB 15 %.
constexpr std::uint32_t packet_max = 65'000;

// What a TCP socket takes beyond what the peer has room for (TCP_NOTSENT_LOWAT). By default that is
// megabytes, which have left the cache when they are sent. A limit that the program has set stays.
constexpr int unsent_max = 128 * 1024;

constexpr std::size_t large_send = 32 * 1024;

void prepare_for_large_sends(descriptor_slot& on) noexcept {
    on.sends_large = true;
    int limit = 0;
    socklen_t room = sizeof limit;
    if (::getsockopt(on.number, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &limit, &room) != 0)
        return;  // Not TCP.
    on.portion_max = packet_max;
    if (limit == 0)
        ::setsockopt(on.number, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent_max, sizeof unsent_max);
}

int try_send(send_operation& op) noexcept {
    descriptor_slot& on = *op.target;
    if (op.size >= large_send && !on.sends_large) prepare_for_large_sends(on);
    return outcome(::send(on.number, op.data, on.portion_of(op), MSG_DONTWAIT | MSG_NOSIGNAL));
}

static_assert(message_operation::peeks == MSG_PEEK &&
              message_operation::closes_on_exec == MSG_CMSG_CLOEXEC);

int try_receive(message_operation& op) noexcept {
    return outcome(::recvmsg(op.target->number, op.message, MSG_DONTWAIT | op.flags));
}

int try_batch(batch_operation& op) noexcept {
    const int number = op.target->number;
    if (op.code == opcode::receive_batch)
        return outcome(::recvmmsg(number, op.messages, op.count, MSG_DONTWAIT, nullptr));
    return outcome(::sendmmsg(number, op.messages, op.count, MSG_DONTWAIT | MSG_NOSIGNAL));
}

int try_send(message_operation& op) noexcept {
    descriptor_slot& on = *op.target;
    if (op.size >= large_send && !on.sends_large) prepare_for_large_sends(on);
    const int result = outcome(::sendmsg(on.number, op.message, MSG_DONTWAIT | MSG_NOSIGNAL));
    // We have room, so it is the receiver of a Unix-domain datagram that has none, for which only its peer
    // can wait (unix(7)).
    const bool for_a_name = op.message->msg_name != nullptr && on.family == AF_UNIX;
    if (result != -EAGAIN || !for_a_name) return result;
    const int ready = ready_now(on, POLLOUT);
    return ready > 0 ? -ENOBUFS : ready;
}

int try_accept(accept_operation& op) noexcept {
    if (const int failed = make_nonblocking(*op.target); failed < 0) return failed;
    socklen_t size = socket_address::size_max;
    sockaddr* peer = op.peer != nullptr ? raw(*op.peer) : nullptr;
    const int accepted =
        ::accept4(op.target->number, peer, peer != nullptr ? &size : nullptr, SOCK_CLOEXEC);
    if (accepted >= 0 && op.peer != nullptr) op.peer->size = size;
    return outcome(accepted);
}

// connect(2) once starts it, and again tells how it stands; on the loopback interface it is through by
// then, and nothing has to be waited for. A Unix socket whose listener is full says EAGAIN, for which
// nothing can be waited either; it is passed on as a failure.
int try_connect(connect_operation& op) noexcept {
    if (const int failed = make_nonblocking(*op.target); failed < 0) return failed;
    const auto call = [&op] {
        return outcome(::connect(op.target->number, raw(*op.peer), op.peer->size));
    };
    int result = call();
    if (result == -EAGAIN && !op.retried) return -ENOBUFS;
    op.retried = true;
    if (result == -EINPROGRESS) result = call();
    if (result == -EALREADY || result == -EINPROGRESS) return -EAGAIN;
    return result == -EISCONN ? 0 : result;  // It was through before we asked.
}

int try_wait(wait_ready_operation& op) noexcept {
    return ready_now(*op.target, static_cast<short>(op.events));
}

int open_socket(open_socket_operation& op) noexcept {
    return outcome(::socket(op.family, op.type | SOCK_CLOEXEC, op.protocol));
}

int make_socket_pair(make_socket_pair_operation& op) noexcept {
    return outcome(::socketpair(AF_UNIX, op.type | SOCK_CLOEXEC, 0, op.numbers));
}

template <class Call>
int use_address(Call* call, const address_operation& op) noexcept {
    return outcome(call(op.target->number, raw(std::as_const(*op.address)), op.address->size));
}

template <class Call>
int use_number(Call* call, const number_operation& op) noexcept {
    return outcome(call(op.target->number, op.number));
}

int address_of(address_operation& op) noexcept {
    auto* ask = op.code == opcode::local_address ? &::getsockname : &::getpeername;
    socklen_t size = socket_address::size_max;
    const int result = outcome(ask(op.target->number, raw(*op.address), &size));
    if (result == 0) op.address->size = size;
    return result;
}

int get_option(option_operation& op) noexcept {
    socklen_t size = op.size;
    const int result = outcome(::getsockopt(op.target->number, op.level, op.name, op.value, &size));
    return result == 0 ? static_cast<int>(size) : result;
}

int find_interface(interface_operation& op) noexcept {
    ifreq request{};
    ::strncpy(request.ifr_name, op.name, sizeof request.ifr_name - 1);
    const int failed = outcome(::ioctl(op.target->number, SIOCGIFINDEX, &request));
    return failed < 0 ? failed : request.ifr_ifindex;
}

int learn_timestamping(timestamping_operation& op) noexcept {
    ethtool_ts_info told{};
    told.cmd = ETHTOOL_GET_TS_INFO;
    ifreq request{};
    ::strncpy(request.ifr_name, op.name, sizeof request.ifr_name - 1);
    request.ifr_data = reinterpret_cast<char*>(&told);
    const int failed = outcome(::ioctl(op.target->number, SIOCETHTOOL, &request));
    if (failed < 0) return failed;
    op.times = told.so_timestamping;
    op.filters = told.rx_filters;
    op.clock = told.phc_index;
    return 0;
}

// A listener that has gone leaves its file, which refuses connections. What does anything else stays.
int remove_stale_path(const address_operation& op) noexcept {
    constexpr std::size_t offset = offsetof(sockaddr_un, sun_path);
    // The longest path there is has no NUL behind it.
    char path[sizeof(sockaddr_un::sun_path) + 1]{};
    const std::size_t named = std::min<std::size_t>(op.address->size, sizeof(sockaddr_un));
    if (named > offset) std::memcpy(path, op.address->data + offset, named - offset);
    struct stat found{};
    if (*path == '\0' || ::lstat(path, &found) != 0 || !S_ISSOCK(found.st_mode)) return -EADDRINUSE;
    const int probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (probe < 0) return -errno;
    const int answer = outcome(::connect(probe, raw(*op.address), op.address->size));
    ::close(probe);
    return answer == -ECONNREFUSED ? outcome(::unlink(path)) : -EADDRINUSE;
}

}  // namespace

int ready_now(const descriptor_slot& it, short events) noexcept {
    pollfd state{it.number, events, 0};
    const int count = outcome(::poll(&state, 1, 0));
    if (count < 0) return count;
    return count == 0 ? -EAGAIN : state.revents;
}

bool receives_plainly(const operation& op) noexcept {
    return op.code == opcode::receive || op.code == opcode::receive_lease;
}

std::size_t room_of(const operation& op) noexcept {
    return op.code == opcode::receive ? static_cast<const receive_operation&>(op).size
                                      : static_cast<const lease_operation&>(op).size;
}

bool peeks(const operation& op) noexcept {
    return op.code == opcode::receive && static_cast<const receive_operation&>(op).peeks;
}

bool is_short_read(const operation& op) noexcept {
    if (op.result <= 0 || peeks(op)) return false;
    const auto got = static_cast<std::size_t>(op.result);
    if (op.code == opcode::receive_batch)
        return got < static_cast<const batch_operation&>(op).count;
    return receives_plainly(op) && got < room_of(op);
}

std::size_t bytes_received(const operation& op) noexcept {
    if (op.result <= 0) return 0;
    const bool counts_bytes = receives_plainly(op) || op.code == opcode::receive_scatter ||
                              op.code == opcode::read || op.code == opcode::read_scatter;
    return counts_bytes ? static_cast<std::size_t>(op.result) : 0;
}

bool is_emptied_by_short_read(const descriptor_slot& it) noexcept {
    return it.family == AF_INET || it.family == AF_INET6 || (it.family == AF_UNIX && it.uncut);
}

int perform(operation& op) noexcept {
    switch (op.code) {
        case opcode::receive: return try_receive(static_cast<receive_operation&>(op));
        case opcode::send: return try_send(static_cast<send_operation&>(op));
        case opcode::receive_lease: return try_receive(static_cast<lease_operation&>(op));
        case opcode::receive_scatter: return try_receive(static_cast<message_operation&>(op));
        case opcode::send_gather: return try_send(static_cast<message_operation&>(op));
        case opcode::receive_batch:
        case opcode::send_batch: return try_batch(static_cast<batch_operation&>(op));
        case opcode::accept: return try_accept(static_cast<accept_operation&>(op));
        case opcode::connect: return try_connect(static_cast<connect_operation&>(op));
        case opcode::wait_ready: return try_wait(static_cast<wait_ready_operation&>(op));
        case opcode::open_socket: return open_socket(static_cast<open_socket_operation&>(op));
        case opcode::make_socket_pair:
            return make_socket_pair(static_cast<make_socket_pair_operation&>(op));
        case opcode::bind: return use_address(&::bind, static_cast<address_operation&>(op));
        case opcode::set_peer: return use_address(&::connect, static_cast<address_operation&>(op));
        case opcode::listen: return use_number(&::listen, static_cast<number_operation&>(op));
        case opcode::shutdown: return use_number(&::shutdown, static_cast<number_operation&>(op));
        case opcode::set_option: {
            auto& it = static_cast<option_operation&>(op);
            return outcome(::setsockopt(it.target->number, it.level, it.name, it.value, it.size));
        }
        case opcode::find_interface: return find_interface(static_cast<interface_operation&>(op));
        case opcode::learn_timestamping:
            return learn_timestamping(static_cast<timestamping_operation&>(op));
        case opcode::remove_stale_path:
            return remove_stale_path(static_cast<const address_operation&>(op));
        case opcode::get_option: return get_option(static_cast<option_operation&>(op));
        case opcode::local_address:
        case opcode::remote_address: return address_of(static_cast<address_operation&>(op));
        case opcode::make_pipe:
        case opcode::duplicate:
        case opcode::learn_kind:
        case opcode::open_watch:
        case opcode::add_watch:
        case opcode::remove_watch:
        case opcode::read:
        case opcode::write:
        case opcode::read_scatter:
        case opcode::write_gather:
        case opcode::synchronize:
        case opcode::allocate:
        case opcode::resize:
        case opcode::open_file:
        case opcode::file_status:
        case opcode::rename:
        case opcode::remove:
        case opcode::make_directory:
        case opcode::read_link:
        case opcode::list_directory: return perform_on_file(op);
        case opcode::spawn_process: return spawn_process(static_cast<spawn_operation&>(op));
        case opcode::reap_process: return reap_process(static_cast<reap_operation&>(op));
        case opcode::signal_process: return signal_process(static_cast<signal_operation&>(op));
        case opcode::disown_process: return disown_process(static_cast<disown_operation&>(op));
        case opcode::call: fail_check("unreachable", "a call runs on a worker, never here");
    }
    fail_check("unreachable", "unknown opcode");
}

}  // namespace gyre
