// SPDX-License-Identifier: BSL-1.0
//
// Every operation as a call on a model, one case each: what src/runtime/perform.cpp is to the kernel.
#include <test/virtual_host.hpp>

#include <gyre/base/lease.hpp>
#include <test/virtual_datagram.hpp>
#include <test/virtual_stream.hpp>

#include <linux/net_tstamp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

namespace gyre::test {
namespace {

// The parts of a transfer, which are few: an awaiter's own.
class listed_parts {
public:
    listed_parts(const iovec* first, std::size_t count) {
        for (const iovec& each : std::span{first, count})
            parts_.emplace_back(static_cast<std::byte*>(each.iov_base), each.iov_len);
    }
    explicit listed_parts(const msghdr& message)
        : listed_parts{message.msg_iov, message.msg_iovlen} {}

    [[nodiscard]] operator memory_parts() const noexcept { return parts_; }

private:
    std::vector<std::pair<std::byte*, std::size_t>> parts_;
};

endpoint name_in(const msghdr& message) {
    socket_address raw;
    raw.size = std::min<std::uint32_t>(message.msg_namelen, socket_address::size_max);
    if (message.msg_name == nullptr) raw.size = 0;
    std::copy_n(static_cast<const std::byte*>(message.msg_name), raw.size, raw.data);
    return raw.size == 0 ? endpoint{} : endpoint{raw};
}

// What the kernel says of a socket that has no address.
socket_address named(const endpoint& it, int family) noexcept {
    if (it.kind() != endpoint::family::none) return it.raw();
    if (family == AF_INET) return endpoint{ipv4::any(), 0}.raw();
    if (family == AF_INET6) return endpoint{ipv6::any(), 0}.raw();
    socket_address unnamed;
    const sa_family_t local = AF_UNIX;
    unnamed.size = sizeof local;
    std::memcpy(unnamed.data, &local, sizeof local);
    return unnamed;
}

}  // namespace

// NOLINTNEXTLINE(readability-function-size): a table, one entry for each.
int virtual_host::perform(operation& op) noexcept {
    switch (op.code) {
        case opcode::receive: {
            auto& it = static_cast<receive_operation&>(op);
            return receive(it.data, it.size, *it.target,
                           it.peeks ? reading::looks : reading::takes);
        }
        case opcode::read: {
            auto& it = static_cast<read_operation&>(op);
            if (it.offset != current_position) return -ESPIPE;
            return receive(it.data, it.size, *it.target, reading::takes);
        }
        case opcode::receive_lease: return receive_lease(static_cast<lease_operation&>(op));
        case opcode::send: {
            auto& it = static_cast<send_operation&>(op);
            const std::array part{std::pair{const_cast<std::byte*>(it.data), it.size}};
            return at(*it.target).send(part, {});
        }
        case opcode::write: {
            auto& it = static_cast<write_operation&>(op);
            if (it.offset != current_position) return -ESPIPE;
            const std::array part{std::pair{const_cast<std::byte*>(it.data), std::size_t{it.size}}};
            return at(*it.target).send(part, {});
        }
        case opcode::read_scatter:
        case opcode::write_gather: return transfer_parts(static_cast<parts_operation&>(op));
        case opcode::receive_scatter: {
            auto& it = static_cast<message_operation&>(op);
            const bool peeks = (it.flags & message_operation::peeks) != 0;
            return receive_message(at(*it.target), *it.message,
                                   peeks ? reading::looks : reading::takes);
        }
        case opcode::send_gather: {
            auto& it = static_cast<message_operation&>(op);
            return send_message(at(*it.target), *it.message);
        }
        case opcode::receive_batch:
        case opcode::send_batch: return transfer_batch(static_cast<batch_operation&>(op));
        case opcode::accept: return accept(static_cast<accept_operation&>(op));
        case opcode::connect: {
            auto& it = static_cast<connect_operation&>(op);
            return at(*it.target).connect(endpoint{*it.peer}, it.retried);
        }
        case opcode::wait_ready: {
            auto& it = static_cast<wait_ready_operation&>(op);
            constexpr std::uint32_t always = 0x8 | 0x10;  // POLLERR and POLLHUP (poll(2)).
            const std::uint32_t ready = at(*it.target).ready() & (it.events | always);
            return ready == 0 ? -EAGAIN : static_cast<int>(ready);
        }
        case opcode::open_socket: return open_socket(static_cast<open_socket_operation&>(op));
        case opcode::bind: {
            auto& it = static_cast<address_operation&>(op);
            return at(*it.target).bind(endpoint{*it.address});
        }
        case opcode::set_peer: {
            auto& it = static_cast<address_operation&>(op);
            return at(*it.target).connect(endpoint{*it.address}, false);
        }
        case opcode::listen: {
            auto& it = static_cast<number_operation&>(op);
            return at(*it.target).listen(it.number);
        }
        case opcode::shutdown: {
            auto& it = static_cast<number_operation&>(op);
            return at(*it.target).shutdown(it.number);
        }
        case opcode::set_option: {
            auto& it = static_cast<option_operation&>(op);
            return at(*it.target)
                .set_option(it.level, it.name, {static_cast<std::byte*>(it.value), it.size});
        }
        case opcode::get_option: {
            auto& it = static_cast<option_operation&>(op);
            return at(*it.target)
                .get_option(it.level, it.name, {static_cast<std::byte*>(it.value), it.size});
        }
        case opcode::find_interface: {
            const std::string_view name = static_cast<interface_operation&>(op).name;
            if (name == "lo") return 1;
            return name == "eth0" ? 2 : -ENODEV;
        }
        case opcode::learn_timestamping: {
            auto& it = static_cast<timestamping_operation&>(op);
            const std::string_view name = it.name;
            if (name != "lo" && name != "eth0") return -ENODEV;
            it.times = SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE;
            return 0;
        }
        case opcode::remove_stale_path:
            return remove_stale(static_cast<const address_operation&>(op));
        case opcode::local_address: {
            auto& it = static_cast<address_operation&>(op);
            return tell(at(*it.target).local(), at(*it.target).family(), it);
        }
        case opcode::remote_address: {
            auto& it = static_cast<address_operation&>(op);
            const virtual_socket& of = at(*it.target);
            return of.connected() ? tell(of.peer(), of.family(), it) : -ENOTCONN;
        }
        case opcode::make_socket_pair: {
            auto& it = static_cast<make_socket_pair_operation&>(op);
            const int type = it.type & ~(SOCK_NONBLOCK | SOCK_CLOEXEC);
            if (type == SOCK_DGRAM)
                return open_two<virtual_datagram>(it.numbers, type, &virtual_datagram::join);
            return type == SOCK_STREAM
                       ? open_two<virtual_stream>(it.numbers, type, &virtual_stream::join)
                       : -EOPNOTSUPP;
        }
        case opcode::make_pipe:
            return open_two<virtual_stream>(static_cast<make_pipe_operation&>(op).numbers,
                                            SOCK_STREAM, &virtual_stream::join_as_pipe);
        case opcode::duplicate: return duplicate(static_cast<duplicate_operation&>(op));
        case opcode::learn_kind: return 0;  // No file is open here.
        case opcode::call: return -EINVAL;  // The backend's.
        case opcode::open_watch:
        case opcode::add_watch:
        case opcode::remove_watch:
        case opcode::synchronize:
        case opcode::allocate:
        case opcode::resize:
        case opcode::open_file:
        case opcode::file_status:
        case opcode::rename:
        case opcode::remove:
        case opcode::make_directory:
        case opcode::read_link:
        case opcode::list_directory:
        case opcode::spawn_process:
        case opcode::reap_process:
        case opcode::signal_process:
        case opcode::disown_process: return -EOPNOTSUPP;
    }
    return -EOPNOTSUPP;
}

int virtual_host::open_socket(const open_socket_operation& op) {
    const int type = op.type & ~(SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (op.family != AF_INET && op.family != AF_INET6 && op.family != AF_UNIX) return -EAFNOSUPPORT;
    const bool is_stream = type == SOCK_STREAM;
    if (op.protocol != 0 && op.protocol != (is_stream ? IPPROTO_TCP : IPPROTO_UDP))
        return -EOPNOTSUPP;
    if (is_stream) return open(std::make_shared<virtual_stream>(*this, op.family, type));
    if (type == SOCK_DGRAM) return open(std::make_shared<virtual_datagram>(*this, op.family, type));
    return -EOPNOTSUPP;
}

template <class Socket>
int virtual_host::open_two(std::span<int, 2> numbers, int type,
                           void (*join)(const std::shared_ptr<Socket>&,
                                        const std::shared_ptr<Socket>&)) {
    const auto one = std::make_shared<Socket>(*this, AF_UNIX, type);
    const auto other = std::make_shared<Socket>(*this, AF_UNIX, type);
    const int first = open(one);
    if (first < 0) return first;
    const int second = open(other);
    if (second < 0) {
        open_[static_cast<std::size_t>(first)] = nullptr;
        return second;
    }
    join(one, other);
    numbers[0] = first;
    numbers[1] = second;
    return 0;
}

int virtual_host::duplicate(const duplicate_operation& op) noexcept {
    const auto index = static_cast<std::size_t>(op.number);
    if (op.number < 0 || index >= open_.size() || open_[index] == nullptr) return -EBADF;
    return open(open_[index], op.least);
}

int virtual_host::accept(accept_operation& op) {
    if (open_descriptors() + 3 >= static_cast<std::size_t>(options_.descriptors_max))
        return -EMFILE;  // Before one is taken, which would be lost.
    std::shared_ptr<virtual_socket> taken;
    if (const int failed = at(*op.target).accept(taken); failed != 0) return failed;
    if (op.peer != nullptr) {
        *op.peer = named(taken->peer(), taken->family());
    }
    return open(std::move(taken));
}

int virtual_host::receive(std::byte* data, std::size_t size, const descriptor_slot& from,
                          reading how) {
    const std::array part{std::pair{data, size}};
    return at(from).receive(part, how).result;
}

int virtual_host::receive_lease(lease_operation& op) {
    std::byte* const block = op.pool->lend();
    const int result = receive(block, op.size, *op.target, reading::takes);
    if (result > 0) {
        op.block = block;
    } else {
        op.pool->take_back(block);
    }
    return result;
}

int virtual_host::transfer_parts(parts_operation& op) {
    if (op.offset != current_position) return -ESPIPE;
    const listed_parts parts{op.parts, op.count};
    virtual_socket& on = at(*op.target);
    return op.code == opcode::read_scatter ? on.receive(parts, reading::takes).result
                                           : on.send(parts, {});
}

int virtual_host::receive_message(virtual_socket& from, msghdr& message, reading how) {
    const received got = from.receive(listed_parts{message}, how);
    if (got.result < 0) return got.result;
    message.msg_flags = got.truncated ? MSG_TRUNC : 0;
    message.msg_controllen = 0;
    if (message.msg_name != nullptr) {
        const socket_address raw = named(got.from, from.family());
        const auto size = std::min<std::size_t>(message.msg_namelen, raw.size);
        std::copy_n(raw.data, size, static_cast<std::byte*>(message.msg_name));
        message.msg_namelen = raw.size;
    }
    return got.result;
}

int virtual_host::send_message(virtual_socket& to, const msghdr& message) {
    if (message.msg_controllen > 0) return -EOPNOTSUPP;
    return to.send(listed_parts{message}, name_in(message));
}

int virtual_host::transfer_batch(batch_operation& op) {
    virtual_socket& on = at(*op.target);
    const bool receives = op.code == opcode::receive_batch;
    std::uint32_t done = 0;
    for (; done < op.count; ++done) {
        mmsghdr& each = op.messages[done];
        const int result = receives ? receive_message(on, each.msg_hdr, reading::takes)
                                    : send_message(on, each.msg_hdr);
        if (result < 0 && done == 0) return result;
        if (result < 0) break;
        each.msg_len = static_cast<unsigned>(result);
    }
    return static_cast<int>(done);
}

int virtual_host::remove_stale(const address_operation& op) {
    const endpoint name{*op.address};
    const auto found = names_.find(name.to_string());
    if (found == names_.end() || name.path().starts_with('\0')) return -EADDRINUSE;
    const std::shared_ptr<virtual_socket> there = found->second.lock();
    if (there != nullptr && !there->closed()) return -EADDRINUSE;
    names_.erase(found);
    return 0;
}

int virtual_host::tell(const endpoint& address, int family, address_operation& op) noexcept {
    *op.address = named(address, family);
    return 0;
}

}  // namespace gyre::test
