// SPDX-License-Identifier: BSL-1.0
//
// How many datagrams have come to an address, whatever their sender says.
#pragma once

#include <gyre/io/endpoint.hpp>

#include <doctest/doctest.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace exchange::testing {

/// A UDP socket on loopback, of the kernel's own and on no loop.
class datagram_meter {
public:
    datagram_meter() {
        REQUIRE(number_ >= 0);
        name_.sin_family = AF_INET;
        name_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        auto* const name = reinterpret_cast<sockaddr*>(&name_);
        socklen_t size = sizeof name_;
        REQUIRE(::bind(number_, name, size) == 0);
        REQUIRE(::getsockname(number_, name, &size) == 0);
    }
    datagram_meter(const datagram_meter&) = delete;
    datagram_meter& operator=(const datagram_meter&) = delete;
    ~datagram_meter() { ::close(number_); }

    [[nodiscard]] gyre::endpoint local() const {
        return {gyre::ipv4::loopback(), ntohs(name_.sin_port)};
    }

    /// All that have come so far. They are taken here, and until then the kernel keeps some eighty.
    [[nodiscard]] std::uint64_t count() {
        std::byte first{};
        while (::recv(number_, &first, sizeof first, MSG_DONTWAIT) >= 0) ++counted_;
        return counted_;
    }

private:
    int number_ = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sockaddr_in name_{};
    std::uint64_t counted_ = 0;
};

}  // namespace exchange::testing
