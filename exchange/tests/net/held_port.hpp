// SPDX-License-Identifier: BSL-1.0
//
// A port for a feed that is to be known before its listener is there.
#pragma once

#include <gyre/io/endpoint.hpp>

#include <doctest/doctest.h>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <random>
#include <utility>

namespace exchange::testing {

/// A port of UDP on loopback that nothing else takes while this holds it. Nor does the kernel give it to
/// another socket between `release` and its listener: it is below the ports that the kernel chooses from
/// (ip(7), ip_local_port_range).
class held_port {
public:
    held_port() : socket_{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)} {
        std::random_device dice;
        std::uniform_int_distribution<std::uint16_t> any{20'000, 32'000};
        for (int tries = 0; tries < 1'000; ++tries) {
            const gyre::endpoint at{gyre::ipv4::loopback(), any(dice)};
            if (!is_bound_to(at)) continue;
            at_ = at;
            return;
        }
        FAIL("no port is free");
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
    [[nodiscard]] bool is_bound_to(const gyre::endpoint& at) const noexcept {
        sockaddr_in where{};
        where.sin_family = AF_INET;
        where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        where.sin_port = htons(at.port());
        return ::bind(socket_, reinterpret_cast<const sockaddr*>(&where), sizeof where) == 0;
    }

    mutable int socket_;
    gyre::endpoint at_{};
};

}  // namespace exchange::testing
