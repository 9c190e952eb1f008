// SPDX-License-Identifier: BSL-1.0
//
// Questions and settings that are answered at once: see include/gyre/io/basic_socket.hpp.
#include <gyre/io/basic_socket.hpp>

#include <sys/socket.h>

#include <array>

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

error basic_socket::apply_one(opcode code, option_key key, void* value,
                              std::uint32_t size) const noexcept {
    option_operation op{code, slot(), key.level, key.name, value, size};
    return perform_now(op);
}

bool basic_socket::speaks_ipv6() const noexcept {
    int family = 0;
    const error failed =
        apply_one(opcode::get_option, {SOL_SOCKET, SO_DOMAIN}, &family, sizeof family);
    return !failed && family == AF_INET6;
}

// What an IPv6 socket sends to an IPv4 peer is by the other number, so both are set.
io_result<> basic_socket::apply(opcode code, const option_numbers& numbers, void* value,
                                std::uint32_t size) const noexcept {
    if (!is_open()) return error{errc::closed, activity_of(code)};
    const bool by_v6 = numbers.v6 != option_key{} && speaks_ipv6();
    if (by_v6 && code == opcode::get_option) return apply_one(code, numbers.v6, value, size);
    const error failed = apply_one(code, numbers.v4, value, size);
    // An IPv6 socket that sends raw packets has none of IPv4's options.
    if (!by_v6 || (failed && failed != errc::no_protocol_option)) return failed;
    return apply_one(code, numbers.v6, value, size);
}

void basic_socket::note_messages_of_host() noexcept {
    if (!is_open()) return;
    slot().family = AF_UNIX;
    slot().datagrams = true;
}

io_result<descriptor> basic_socket::peer_process() const noexcept {
    constexpr option_key key{SOL_SOCKET, 77};  // SO_PEERPIDFD, which Debian 12's headers lack.
    int number = -1;
    const io_result<> asked = apply(opcode::get_option, key, &number, sizeof number);
    if (!asked.ok()) return asked.error();
    return descriptor{handle{on(), number}};
}

// The kernel would cut a longer name, and perhaps find another interface.
io_result<> basic_socket::bind_to_device(std::string_view name) noexcept {
    std::array<char, 16> text{};
    if (name.size() >= text.size()) return error{errc::name_too_long, activity::set_option};
    if (name.find('\0') != std::string_view::npos)
        return error{errc::no_such_device, activity::set_option};
    name.copy(text.data(), name.size());
    return apply(opcode::set_option, option_key{SOL_SOCKET, SO_BINDTODEVICE}, text.data(),
                 text.size());
}

io_result<std::string> basic_socket::bound_device() const {
    std::array<char, 16> text{};
    const io_result<> asked = apply(opcode::get_option, option_key{SOL_SOCKET, SO_BINDTODEVICE},
                                    text.data(), text.size());
    if (!asked.ok()) return asked.error();
    return std::string{text.data()};
}

}  // namespace gyre
