// SPDX-License-Identifier: BSL-1.0
//
// Sockets of one machine, for the load and for the facility without a library.
//
// Plain system calls and nothing behind them, so that the load costs the same for all contenders.
// What fails here ends the program: a benchmark without its sockets has nothing to say.
#pragma once

#include <lab/kit/sockets.hpp>

#include <netinet/in.h>

#include <cstdint>
#include <span>

namespace exchange::bench {

using lab::descriptor;

/// 127.0.0.1 and this port.
[[nodiscard]] sockaddr_in loopback_address(std::uint16_t port) noexcept;

/// Where a socket is bound.
[[nodiscard]] sockaddr_in address_of(const descriptor& socket);

/// A listening TCP socket at a port of the kernel's choice.
[[nodiscard]] descriptor listen_for_orders();

/// A connected TCP socket that does not block, with TCP_NODELAY.
[[nodiscard]] descriptor connect_for_orders(const sockaddr_in& to);

/// An accepted one, likewise. Waits for it.
[[nodiscard]] descriptor accept_orders(const descriptor& listener);

/// A UDP socket that does not block, bound to 127.0.0.1 or, with a group, to what is sent to the group.
///
/// @param  group  Joined by the loopback interface; INADDR_ANY for none. In network order.
[[nodiscard]] descriptor datagrams_at_loopback(in_addr group);

/// A UDP socket that does not block, connected to a group by the loopback interface, or to a host.
[[nodiscard]] descriptor datagrams_to(const sockaddr_in& to);

/// Asks for room for so many bytes, more than users may have if we are privileged.
void reserve_receive_buffer(const descriptor& socket, int bytes);

[[nodiscard]] inline bool is_multicast(const in_addr& address) noexcept {
    return (ntohl(address.s_addr) >> 28) == 0xE;
}

/// Keeps the calling thread on this core; -1 leaves it alone.
void stay_on_processor(int processor);

/// A core for what is measured, and one for what loads it; -1: any.
struct two_processors {
    int served = -1;
    int load = -1;
};

/// Of those that this process may use; none if they would have to share one.
[[nodiscard]] two_processors choose_processors();

}  // namespace exchange::bench
