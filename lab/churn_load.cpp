// SPDX-License-Identifier: BSL-1.0
//
// Listeners for churn_load.hpp, made with bare system calls: setting up is nobody's merit.
#include <lab/churn_load.hpp>

#include <arpa/inet.h>
#include <sys/socket.h>

namespace lab {

listener listen_on_loopback() {
    sockaddr_in local{};
    local.sin_family = AF_INET;
    local.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(local);
    auto* const address = reinterpret_cast<sockaddr*>(&local);

    descriptor socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    set_no_delay(socket.get());
    require(::bind(socket.get(), address, size) == 0, "bind");
    require(::listen(socket.get(), SOMAXCONN) == 0, "listen");
    require(::getsockname(socket.get(), address, &size) == 0, "getsockname");
    return {std::move(socket), local};
}

void set_reset_on_close(int socket) {
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    require(::setsockopt(socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once)) == 0,
            "SO_LINGER");
}

std::vector<listener> listen_on_loopback(std::size_t count) {
    std::vector<listener> all;
    for (std::size_t i = 0; i < count; ++i) all.push_back(listen_on_loopback());
    return all;
}

}  // namespace lab
