// SPDX-License-Identifier: BSL-1.0
//
// Questions and settings that are answered at once: see include/gyre/io/basic_socket.hpp.
#include <gyre/io/basic_socket.hpp>

namespace gyre {

io_result<endpoint> basic_socket::local_endpoint() const noexcept {
    return ask(opcode::local_address);
}

io_result<endpoint> basic_socket::remote_endpoint() const noexcept {
    return ask(opcode::remote_address);
}

io_result<endpoint> basic_socket::ask(opcode code) const noexcept {
    if (!is_open()) return error{errc::closed, activity::endpoint};
    socket_address found;
    address_operation op{code, slot(), found};
    if (const error failed = perform_now(op)) return failed;
    return endpoint{found};
}

io_result<> basic_socket::apply(opcode code, int level, int name, void* value,
                                std::uint32_t size) const noexcept {
    if (!is_open()) return error{errc::closed, activity_of(code)};
    option_operation op{code, slot(), level, name, value, size};
    return perform_now(op);
}

}  // namespace gyre
