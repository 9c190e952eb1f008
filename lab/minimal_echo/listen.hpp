// SPDX-License-Identifier: BSL-1.0
//
// How the two programs without a library begin and end; libraries have this within.
#pragma once

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

/// A listener on that port of the loopback, which is printed; sockets inherit TCP_NODELAY from it. SIGTERM
/// ends the process from now on.
inline int listen_on(const char* port) {
    const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    ::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    ::setsockopt(listener, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    sockaddr_in local{};
    socklen_t size = sizeof(local);
    local.sin_family = AF_INET;
    local.sin_port = htons(static_cast<std::uint16_t>(std::atoi(port)));
    local.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const address = reinterpret_cast<sockaddr*>(&local);
    if (::bind(listener, address, size) != 0 || ::listen(listener, 4096) != 0) {
        std::perror("listen");
        std::exit(1);
    }
    std::signal(SIGTERM, [](int) { ::_exit(0); });
    std::signal(SIGPIPE, SIG_IGN);
    ::getsockname(listener, address, &size);
    std::printf("%d\n", ntohs(local.sin_port));
    std::fflush(stdout);
    return listener;
}
