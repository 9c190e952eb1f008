// SPDX-License-Identifier: BSL-1.0
//
// The names of operations: see include/gyre/runtime/operation.hpp.
#include <gyre/runtime/operation.hpp>

namespace gyre {

const char* describe(opcode code) noexcept { return describe(activity_of(code)); }

activity activity_of(opcode code) noexcept {
    switch (code) {
        case opcode::receive:
        case opcode::receive_scatter:
        case opcode::receive_batch:
        case opcode::receive_lease: return activity::read;
        case opcode::send:
        case opcode::send_gather:
        case opcode::send_batch: return activity::write;
        case opcode::accept: return activity::accept;
        case opcode::connect:
        case opcode::set_peer: return activity::connect;
        case opcode::wait_ready: return activity::wait;
        case opcode::open_socket: return activity::open;
        case opcode::bind: return activity::bind;
        case opcode::listen: return activity::listen;
        case opcode::shutdown: return activity::shutdown;
        case opcode::set_option: return activity::set_option;
        case opcode::get_option:
        case opcode::find_interface: return activity::get_option;
        case opcode::local_address:
        case opcode::remote_address: return activity::endpoint;
        case opcode::call: return activity::call;
    }
    return activity::unknown;
}

}  // namespace gyre
