// SPDX-License-Identifier: BSL-1.0
//
// How one is opened: see include/gyre/io/udp_socket.hpp.
#include <gyre/io/udp_socket.hpp>

#include <io/socket_steps.hpp>

#include <sys/socket.h>

namespace gyre {

io_result<udp_socket> udp_socket::bind(io_context& on, const endpoint& local,
                                       const udp_options& options) noexcept {
    const endpoint::family family = local.kind();
    io_result<handle> open = open_socket(on, family, SOCK_DGRAM, 0);
    if (!open.ok()) return open.error();

    udp_socket socket{open.take(), family};
    socket_steps steps{on.host(), socket.slot()};
    if (options.address_reused) steps.set(reuse_address{});
    if (options.port_shared) steps.set(reuse_port{});
    if (family == endpoint::family::v6) {
        steps.set(v6_only{options.v6_only});
    }
    steps.bind(local);
    if (steps.failure()) return steps.failure();
    return socket;
}

}  // namespace gyre
