// SPDX-License-Identifier: BSL-1.0
//
// A host that answers no attempt to connect, as one behind a firewall that drops them.
//
// The kernel leaves connections beyond a listener's queue unanswered; so this is a listener whose queue is
// full, and which accepts no connection.
#pragma once

#include <gyre/io/endpoint.hpp>

#include <doctest/doctest.h>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>

namespace exchange::testing {

class silent_host {
public:
    silent_host() {
        sockaddr_in name{};
        name.sin_family = AF_INET;
        name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof name;
        auto* const raw = reinterpret_cast<sockaddr*>(&name);
        REQUIRE(::bind(listener_, raw, size) == 0);
        REQUIRE(::listen(listener_, 0) == 0);
        REQUIRE(::getsockname(listener_, raw, &size) == 0);
        port_ = ntohs(name.sin_port);
        for (const int each : queued_) static_cast<void>(::connect(each, raw, size));
    }
    silent_host(const silent_host&) = delete;
    silent_host& operator=(const silent_host&) = delete;
    ~silent_host() {
        for (const int each : queued_) ::close(each);
        ::close(listener_);
    }

    [[nodiscard]] gyre::endpoint where() const { return {gyre::ipv4::loopback(), port_}; }

private:
    [[nodiscard]] static int open() {
        const int number = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        REQUIRE(number >= 0);
        return number;
    }

    int listener_ = open();
    std::array<int, 3> queued_{open(), open(), open()};
    std::uint16_t port_ = 0;
};

}  // namespace exchange::testing
