// SPDX-License-Identifier: BSL-1.0
//
// What travels, and proof that it arrived.
#include <lab/load.hpp>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <random>

namespace lab {
namespace {

connected_pair connect_tcp_pair() {
    sockaddr_in local{};
    local.sin_family = AF_INET;
    local.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(local);
    auto* const address = reinterpret_cast<sockaddr*>(&local);

    const descriptor listener{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    require(::bind(listener.get(), address, size) == 0, "bind");
    require(::listen(listener.get(), 1) == 0, "listen");
    require(::getsockname(listener.get(), address, &size) == 0, "getsockname");

    descriptor client{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    require(::connect(client.get(), address, size) == 0, "connect");
    descriptor server = accept_connection(listener);
    set_no_delay(client.get());
    return {std::move(client), std::move(server)};
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

void set_no_delay(int socket) {
    const int on = 1;
    require(::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) == 0, "TCP_NODELAY");
}

descriptor accept_connection(const descriptor& listener) {
    descriptor accepted{::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC)};
    require(accepted.get() >= 0, "accept");
    set_no_delay(accepted.get());
    return accepted;
}

connected_pair connect_pair(transport via) {
    return via == transport::tcp ? connect_tcp_pair() : connect_unix_pair();
}

stream_content::stream_content(std::size_t buffer_bytes) : bytes_(period + buffer_bytes) {
    std::mt19937 random{2'011};
    for (std::size_t i = 0; i < bytes_.size(); ++i) {
        bytes_[i] = i < period ? static_cast<std::byte>(random() >> 24) : bytes_[i - period];
    }
}

}  // namespace lab
