// SPDX-License-Identifier: BSL-1.0
//
// A port for a feed that is to be known before its listener is there.
#pragma once

#include <gyre/io/endpoint.hpp>

#include <doctest/doctest.h>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>

namespace exchange::testing {

/// A port of UDP on loopback that nothing else takes while this holds it.
class held_port {
public:
    held_port() : socket_{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)} {
        sockaddr_in where{};
        where.sin_family = AF_INET;
        where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof where;
        auto* const address = reinterpret_cast<sockaddr*>(&where);
        REQUIRE(::bind(socket_, address, size) == 0);
        REQUIRE(::getsockname(socket_, address, &size) == 0);
        at_ = gyre::endpoint{gyre::ipv4::loopback(), ntohs(where.sin_port)};
    }
    held_port(const held_port&) = delete;
    held_port& operator=(const held_port&) = delete;
    ~held_port() { release(); }

    [[nodiscard]] const gyre::endpoint& at() const noexcept { return at_; }
    /// Whom it was held for can have it.
    void release() const noexcept {
        if (socket_ >= 0) ::close(std::exchange(socket_, -1));
    }

private:
    mutable int socket_;
    gyre::endpoint at_{};
};

}  // namespace exchange::testing
