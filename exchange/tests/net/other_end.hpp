// SPDX-License-Identifier: BSL-1.0
//
// The far end of a test's connection, which is a descriptor of the same process.
//
// What a facility does to its sockets can be looked at there, and what it offers no option for can be set.
#pragma once

#include <doctest/doctest.h>

#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>

namespace exchange::testing {

/// The descriptor at the other end of a connection over IPv4 loopback.
[[nodiscard]] inline int other_end_of(int near) {
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
        if (peer.sin_family == AF_INET && peer.sin_port == own.sin_port) return each;
    }
    FAIL("the other end is in this process");
    return -1;
}

}  // namespace exchange::testing
