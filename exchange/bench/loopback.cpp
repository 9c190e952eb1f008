// SPDX-License-Identifier: BSL-1.0
//
// See the header.
#include <exchange/bench/loopback.hpp>

#include <lab/kit/fail.hpp>

#include <sched.h>
#include <sys/socket.h>

#include <algorithm>
#include <vector>

namespace exchange::bench {
namespace {

using lab::require;

template <class Value>
void set(const descriptor& socket, int level, int option, const Value& value, const char* what) {
    require(::setsockopt(socket.get(), level, option, &value, sizeof(value)) == 0, what);
}

void bind_to(const descriptor& socket, const sockaddr_in& address) {
    const auto* const at = reinterpret_cast<const sockaddr*>(&address);
    require(::bind(socket.get(), at, sizeof(address)) == 0, "exchange: bind");
}

void connect_to(const descriptor& socket, const sockaddr_in& address) {
    const auto* const at = reinterpret_cast<const sockaddr*>(&address);
    require(::connect(socket.get(), at, sizeof(address)) == 0, "exchange: connect");
}

descriptor make_socket(int type) {
    descriptor made{::socket(AF_INET, type | SOCK_CLOEXEC, 0)};
    require(made.get() >= 0, "exchange: socket");
    return made;
}

}  // namespace

sockaddr_in loopback_address(std::uint16_t port) noexcept {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

sockaddr_in address_of(const descriptor& socket) {
    sockaddr_in address{};
    socklen_t size = sizeof(address);
    auto* const at = reinterpret_cast<sockaddr*>(&address);
    require(::getsockname(socket.get(), at, &size) == 0, "exchange: getsockname");
    return address;
}

descriptor listen_for_orders() {
    descriptor listener = make_socket(SOCK_STREAM);
    bind_to(listener, loopback_address(0));
    require(::listen(listener.get(), 8) == 0, "exchange: listen");
    return listener;
}

descriptor connect_for_orders(const sockaddr_in& to) {
    descriptor made = make_socket(SOCK_STREAM);
    connect_to(made, to);
    lab::set_no_delay(made.get());
    return made;
}

descriptor accept_orders(const descriptor& listener) {
    descriptor made{::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC)};
    require(made.get() >= 0, "exchange: accept");
    lab::set_no_delay(made.get());
    return made;
}

descriptor datagrams_at_loopback(in_addr group) {
    descriptor made = make_socket(SOCK_DGRAM | SOCK_NONBLOCK);
    sockaddr_in address = loopback_address(0);
    if (is_multicast(group)) address.sin_addr = group;
    bind_to(made, address);
    if (is_multicast(group)) {
        const ip_mreqn membership{group, loopback_address(0).sin_addr, 0};
        set(made, IPPROTO_IP, IP_ADD_MEMBERSHIP, membership, "exchange: join the feed's group");
    }
    return made;
}

descriptor datagrams_to(const sockaddr_in& to) {
    descriptor made = make_socket(SOCK_DGRAM | SOCK_NONBLOCK);
    if (is_multicast(to.sin_addr)) {
        const ip_mreqn by{{}, loopback_address(0).sin_addr, 0};
        set(made, IPPROTO_IP, IP_MULTICAST_IF, by, "exchange: the feed's interface");
        set(made, IPPROTO_IP, IP_MULTICAST_LOOP, 1, "exchange: the feed's loop");
    }
    connect_to(made, to);
    return made;
}

void reserve_receive_buffer(const descriptor& socket, int bytes) {
    if (::setsockopt(socket.get(), SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) != 0)
        set(socket, SOL_SOCKET, SO_RCVBUF, bytes, "exchange: the feed's buffer");
}

void stay_on_processor(int processor) {
    if (processor < 0) return;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    require(::sched_setaffinity(0, sizeof(one), &one) == 0, "exchange: sched_setaffinity");
}

two_processors choose_processors() {
    cpu_set_t allowed;
    require(::sched_getaffinity(0, sizeof(allowed), &allowed) == 0, "exchange: affinity");
    std::vector<int> found;
    for (int each = 0; each < CPU_SETSIZE; ++each)
        if (CPU_ISSET(each, &allowed)) found.push_back(each);
    if (found.size() < 2) return {};
    return {found[found.size() - 1], found[found.size() - 2]};
}

}  // namespace exchange::bench
