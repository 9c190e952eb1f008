// SPDX-License-Identifier: BSL-1.0
//
// Descriptors, connected pairs and listeners, made with bare system calls.
#include <lab/kit/sockets.hpp>

#include <lab/kit/fail.hpp>

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

namespace lab {
namespace {

connected_pair connect_tcp_pair() {
    const listener at = listen_on_loopback();
    descriptor client = connect_to(at.address);
    return {std::move(client), accept_connection(at.socket)};
}

connected_pair connect_unix_pair() {
    std::array<int, 2> ends{};
    require(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0, "socketpair");
    return {descriptor{ends[0]}, descriptor{ends[1]}};
}

}  // namespace

descriptor::~descriptor() {
    if (value_ >= 0) ::close(value_);
}

connected_pair connect_pair(transport via) {
    return via == transport::tcp ? connect_tcp_pair() : connect_unix_pair();
}

void set_no_delay(int socket) {
    const int on = 1;
    require(::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) == 0, "TCP_NODELAY");
}

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

std::vector<listener> listen_on_loopback(std::size_t count) {
    std::vector<listener> all;
    for (std::size_t i = 0; i < count; ++i) all.push_back(listen_on_loopback());
    return all;
}

descriptor connect_to(const sockaddr_in& address) {
    descriptor client{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    set_no_delay(client.get());
    const auto* const name = reinterpret_cast<const sockaddr*>(&address);
    require(::connect(client.get(), name, sizeof(address)) == 0, "connect");
    return client;
}

descriptor accept_connection(const descriptor& listener) {
    descriptor accepted{::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC)};
    require(accepted.get() >= 0, "accept");
    set_no_delay(accepted.get());
    return accepted;
}

void set_reset_on_close(int socket) {
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    require(::setsockopt(socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once)) == 0,
            "SO_LINGER");
}

}  // namespace lab
