// SPDX-License-Identifier: BSL-1.0
//
// The names and kinds of operations: see include/gyre/runtime/operation.hpp.
#include <gyre/runtime/operation.hpp>

#include <netinet/in.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace gyre {
namespace {

/// The port of a socket address, 0 if it has none.
std::uint16_t port_of(const socket_address& of) noexcept {
    sockaddr_in6 address{};
    // The port of both families stands at the same place.
    static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));
    static_assert(socket_address::size_max >= sizeof(address));
    std::memcpy(&address, of.data, sizeof(address));
    const bool has_port = address.sin6_family == AF_INET || address.sin6_family == AF_INET6;
    return has_port ? ntohs(address.sin6_port) : std::uint16_t{0};
}

/// The port to bind or connect to, 0 if the operation is about none.
std::uint16_t port_of(const operation& op) noexcept {
    if (op.code == opcode::bind || op.code == opcode::set_peer) {
        const socket_address* const address = static_cast<const address_operation&>(op).address;
        return address != nullptr ? port_of(*address) : std::uint16_t{0};
    }
    if (op.code != opcode::connect) return 0;
    const socket_address* const peer = static_cast<const connect_operation&>(op).peer;
    return peer != nullptr ? port_of(*peer) : std::uint16_t{0};
}

}  // namespace

bool writes_in_order(const operation& op) noexcept {
    switch (op.code) {
        case opcode::send:
        case opcode::send_gather: return true;
        case opcode::write:
            return static_cast<const write_operation&>(op).offset == current_position;
        case opcode::write_gather:
            return static_cast<const parts_operation&>(op).offset == current_position;
        default: return false;
    }
}

error failure_of(const operation& op) noexcept {
    const error failed = error::from_errno(-op.result, activity_of(op.code));
    if (failed == errc::canceled) return failed;
    return {failed.code(), failed.during(), port_of(op)};
}

const char* describe(opcode code) noexcept { return describe(activity_of(code)); }

activity activity_of(opcode code) noexcept {
    switch (code) {
        case opcode::receive:
        case opcode::receive_scatter:
        case opcode::receive_batch:
        case opcode::receive_lease:
        case opcode::read:
        case opcode::read_scatter: return activity::read;
        case opcode::send:
        case opcode::send_gather:
        case opcode::send_batch:
        case opcode::write:
        case opcode::write_gather: return activity::write;
        case opcode::accept: return activity::accept;
        case opcode::connect:
        case opcode::set_peer: return activity::connect;
        case opcode::wait_ready: return activity::wait;
        case opcode::learn_kind: return activity::adopt;
        case opcode::synchronize: return activity::synchronize;
        case opcode::allocate: return activity::allocate;
        case opcode::resize: return activity::resize;
        case opcode::file_status: return activity::file_status;
        case opcode::rename: return activity::rename;
        case opcode::remove: return activity::remove;
        case opcode::make_directory: return activity::make_directory;
        case opcode::read_link: return activity::read_link;
        case opcode::list_directory: return activity::list_directory;
        case opcode::open_watch:
        case opcode::add_watch:
        case opcode::remove_watch: return activity::watch;
        case opcode::open_file:
        case opcode::open_socket:
        case opcode::make_socket_pair:
        case opcode::make_pipe:
        case opcode::duplicate: return activity::open;
        case opcode::bind:
        case opcode::remove_stale_path: return activity::bind;
        case opcode::listen: return activity::listen;
        case opcode::shutdown: return activity::shutdown;
        case opcode::set_option: return activity::set_option;
        case opcode::get_option:
        case opcode::find_interface:
        case opcode::learn_timestamping: return activity::get_option;
        case opcode::local_address:
        case opcode::remote_address: return activity::endpoint;
        case opcode::spawn_process: return activity::start_process;
        case opcode::reap_process: return activity::wait;
        case opcode::signal_process: return activity::signal;
        case opcode::disown_process: return activity::close;
        case opcode::call: return activity::call;
    }
    return activity::unknown;
}

}  // namespace gyre
