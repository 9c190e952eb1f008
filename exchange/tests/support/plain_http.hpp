// SPDX-License-Identifier: BSL-1.0
//
// A client of HTTP made of plain system calls, so that a test of ours does not stand on our own client.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

namespace exchange::testing {

/// A connection to a port of this machine. Waits half a minute at most for whatever it reads.
class plain_connection {
public:
    explicit plain_connection(std::uint16_t port)
        : socket_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
        sockaddr_in where{};
        where.sin_family = AF_INET;
        where.sin_port = htons(port);
        where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        const timeval patience{30, 0};
        ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        REQUIRE(::connect(socket_, reinterpret_cast<const sockaddr*>(&where), sizeof where) == 0);
    }
    plain_connection(const plain_connection&) = delete;
    plain_connection& operator=(const plain_connection&) = delete;
    ~plain_connection() { ::close(socket_); }

    void say(std::string_view text) const {
        REQUIRE(::send(socket_, text.data(), text.size(), MSG_NOSIGNAL) ==
                static_cast<ssize_t>(text.size()));
    }
    /// The first bytes that come, this many at most.
    [[nodiscard]] std::string first(std::size_t most) const {
        std::string made(most, '\0');
        const ssize_t got = ::recv(socket_, made.data(), most, MSG_WAITALL);
        made.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
        return made;
    }
    /// What comes until the peer has ended.
    [[nodiscard]] std::string rest() const {
        std::string made;
        char bytes[4096];
        for (ssize_t got = 0; (got = ::recv(socket_, bytes, sizeof bytes, 0)) > 0;)
            made.append(bytes, static_cast<std::size_t>(got));
        return made;
    }

private:
    int socket_;
};

/// Does anything listen at this port of this machine?
[[nodiscard]] inline bool listens(std::uint16_t port) {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_port = htons(port);
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int failed = ::connect(socket, reinterpret_cast<const sockaddr*>(&where), sizeof where);
    ::close(socket);
    return failed == 0;
}

struct http_answer {
    int status = 0;  ///< 0: there was none.
    std::string body{};
};

[[nodiscard]] inline http_answer answer_in(const std::string& text) {
    const std::size_t head = text.find("\r\n\r\n");
    if (!text.starts_with("HTTP/1.1 ") || head == std::string::npos) return {};
    return {std::atoi(text.c_str() + 9), text.substr(head + 4)};
}

/// @param  request  "GET /status"
[[nodiscard]] inline http_answer ask(std::uint16_t port, const std::string& request) {
    const plain_connection it{port};
    it.say(request + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    return answer_in(it.rest());
}

/// The port in "127.0.0.1:80".
[[nodiscard]] inline std::uint16_t port_of(const std::string& address) {
    return static_cast<std::uint16_t>(std::atoi(address.c_str() + address.rfind(':') + 1));
}

}  // namespace exchange::testing
