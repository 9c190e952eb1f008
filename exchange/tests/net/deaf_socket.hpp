// SPDX-License-Identifier: BSL-1.0
//
// A socket on which every receive fails at once, and goes on failing.
//
// A network that is down or a kernel without memory does that, and no test can have them. What is put behind
// the descriptor here is no socket at all.
#pragma once

#include <gyre/io/endpoint.hpp>

#include <doctest/doctest.h>

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>

namespace exchange::testing {

/// Before anything waits on it.
inline void make_deaf(int number) {
    const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    REQUIRE(nothing >= 0);
    REQUIRE(::dup3(nothing, number, O_CLOEXEC) == number);
    ::close(nothing);
}

/// The descriptor of this process that is bound to a port of UDP.
[[nodiscard]] inline int receiver_at(std::uint16_t port) {
    rlimit descriptors{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &descriptors) == 0);
    for (int each = 0; each < static_cast<int>(descriptors.rlim_cur); ++each) {
        sockaddr_in name{};
        socklen_t size = sizeof name;
        if (::getsockname(each, reinterpret_cast<sockaddr*>(&name), &size) != 0) continue;
        int type = 0;
        socklen_t type_size = sizeof type;
        static_cast<void>(::getsockopt(each, SOL_SOCKET, SO_TYPE, &type, &type_size));
        if (type == SOCK_DGRAM && name.sin_family == AF_INET && ntohs(name.sin_port) == port)
            return each;
    }
    FAIL("another socket of this process receives there");
    return -1;
}

}  // namespace exchange::testing
