// SPDX-License-Identifier: BSL-1.0
//
// How one is opened: see include/gyre/io/raw_socket.hpp.
#include <gyre/io/raw_socket.hpp>

#include <io/socket_steps.hpp>

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstddef>

namespace gyre {
namespace {

struct header_written : switch_option<header_written, option_key{IPPROTO_IP, IP_HDRINCL}> {};

}  // namespace

io_result<raw_socket> raw_socket::open(io_context& on, endpoint::family family,
                                       std::uint8_t protocol, const raw_options& options) noexcept {
    if (options.header_written && family == endpoint::family::v6)
        return error{errc::invalid_argument, activity::open};
    io_result<handle> opened = open_socket(on, family, SOCK_RAW, protocol);
    if (!opened.ok()) return opened.error();

    raw_socket made{opened.take(), family};
    socket_steps steps{on.host(), made.slot()};
    if (options.header_written) steps.set(header_written{});
    steps.use_device(options.device, made);
    if (options.address) {
        const endpoint local{*options.address, 0};
        // The kernel would take an IPv4 address of an IPv6 socket for one of another length.
        if (local.kind() != family)
            return error{errc::address_family_not_supported, activity::bind};
        steps.bind(local);
    }
    if (steps.failure()) return steps.failure();
    return made;
}

const_buffer payload_of_ipv4(const_buffer packet) noexcept {
    constexpr std::size_t least = 20;
    if (packet.size() < least) return {};
    const std::size_t size = 4 * (std::to_integer<std::size_t>(packet[0]) & 0xf);
    if (size < least || size > packet.size()) return {};
    return packet.subspan(size);
}

}  // namespace gyre
