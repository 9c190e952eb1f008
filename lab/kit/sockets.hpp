// SPDX-License-Identifier: BSL-1.0
//
// Descriptors, connected pairs and listeners, made with bare system calls.
//
// Setting up is not what the lab compares, so all contenders are given the same sockets: TCP with
// TCP_NODELAY on both ends, inside one machine.
#pragma once

#include <netinet/in.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace lab {

/// Owns a file descriptor.
class descriptor {
public:
    explicit descriptor(int value) noexcept : value_{value} {}
    descriptor(descriptor&& other) noexcept : value_{other.release()} {}
    descriptor& operator=(descriptor other) noexcept {
        std::swap(value_, other.value_);
        return *this;
    }
    ~descriptor();

    [[nodiscard]] int get() const noexcept { return value_; }

    /// Gives the descriptor away, to a library that closes it itself.
    [[nodiscard]] int release() noexcept { return std::exchange(value_, -1); }

private:
    int value_;
};

enum class transport { tcp, unix_stream };

struct connected_pair {
    descriptor client;
    descriptor server;
};

/// Two blocking stream sockets that are connected to each other, TCP_NODELAY set on both of TCP's.
[[nodiscard]] connected_pair connect_pair(transport via);

/// Sets TCP_NODELAY, as every TCP socket of the lab has it.
void set_no_delay(int socket);

/// Where a server waits for connections.
struct listener {
    descriptor socket;
    sockaddr_in address;

    [[nodiscard]] std::uint16_t port() const noexcept { return ntohs(address.sin_port); }
};

/// A TCP listener on the loopback interface with a long queue. What it accepts has TCP_NODELAY set,
/// which sockets inherit from their listener on Linux.
[[nodiscard]] listener listen_on_loopback();
[[nodiscard]] std::vector<listener> listen_on_loopback(std::size_t count);

/// A client of a TCP listener, with TCP_NODELAY.
[[nodiscard]] descriptor connect_to(const sockaddr_in& address);

/// Waits for the next connection of a listening TCP socket; with TCP_NODELAY.
[[nodiscard]] descriptor accept_connection(const descriptor& listener);

/// Makes the client's close a reset (SO_LINGER of no time), which leaves nothing behind.
///
/// The end that closes first is in TIME-WAIT for a minute (RFC 9293 3.6): tens of thousands of them would
/// run out of ports and burden the next measurement. In `churn` the server closes first, and the client,
/// which has read everything by then, with a reset: that ends the server's TIME-WAIT before it begins.
/// Every contender pays the one call.
void set_reset_on_close(int socket);

}  // namespace lab
