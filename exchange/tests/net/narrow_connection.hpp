// SPDX-License-Identifier: BSL-1.0
//
// Makes a connection hold little, so that whoever does not read stops the other end soon.
//
// The kernel grows the buffers of a connection over loopback to megabytes, and a facility offers no option
// against that. But both ends of a test's connections are descriptors of its own process.
#pragma once

#include <doctest/doctest.h>

#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>

namespace exchange::testing {

/// Leaves a descriptor the smallest buffer; `name` is SO_SNDBUF or SO_RCVBUF.
inline void shrink_buffer(int number, int name) {
    const int least = 1;
    REQUIRE(::setsockopt(number, SOL_SOCKET, name, &least, sizeof least) == 0);
}

/// Little waits to be read at this end.
inline void narrow_this_end(int near) { shrink_buffer(near, SO_RCVBUF); }

/// Little waits to be sent at the other end of the connection, which is in this process.
inline void narrow_other_end(int near) {
    const auto name_of = [](int number, auto ask) {
        sockaddr_in name{};
        socklen_t size = sizeof name;
        const bool known = ask(number, reinterpret_cast<sockaddr*>(&name), &size) == 0;
        return known ? name : sockaddr_in{};
    };
    const sockaddr_in own = name_of(near, ::getsockname);
    rlimit descriptors{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &descriptors) == 0);
    for (int each = 0; each < static_cast<int>(descriptors.rlim_cur); ++each) {
        const sockaddr_in peer = name_of(each, ::getpeername);
        if (peer.sin_family != AF_INET || peer.sin_port != own.sin_port) continue;
        return shrink_buffer(each, SO_SNDBUF);
    }
    FAIL("the other end is in this process");
}

}  // namespace exchange::testing
