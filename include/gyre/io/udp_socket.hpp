// SPDX-License-Identifier: BSL-1.0
//
// Datagrams: messages that arrive whole or not at all, in any order, from any sender (RFC 768).
//
// One socket talks to many peers, or to one after `connect`; it may send to a group of receivers and
// join such groups (RFC 1112, RFC 3493 5.2). A datagram that is longer than its buffer is cut, and says so.
// What is done with an open one is in basic_datagram_socket.hpp.
#pragma once

#include <gyre/base/result.hpp>
#include <gyre/io/basic_datagram_socket.hpp>
#include <gyre/io/endpoint.hpp>
#include <gyre/runtime/submit.hpp>

#include <utility>

namespace gyre {

/// How a UDP socket is opened: who else may have its address.
struct udp_options {
    udp_options() noexcept = default;

    bool address_reused =
        false;                 ///< SO_REUSEADDR: several sockets of a host in one multicast group.
    bool port_shared = false;  ///< SO_REUSEPORT: several sockets, each datagram to one of them.
    bool v6_only = false;      ///< IPV6_V6ONLY, as in listen_options.
};

/// A UDP socket, or none. Moves; closes at the latest when destroyed.
class udp_socket : public basic_datagram_socket {
public:
    udp_socket() noexcept = default;

    /// Opens a socket on `local`; port 0 lets the kernel choose (see `local_endpoint`). A multicast
    /// group as the address takes only what is sent to that group, once it was joined.
    ///
    /// @param  on     The loop whose host it is opened on. Inside a coroutine leave it out and await.
    /// @param  local  Copied. IPv4 or IPv6, else `errc::address_family_not_supported`.
    /// Errors:        `errc::address_in_use`, `errc::address_not_available`, `errc::permission_denied`, ...
    [[nodiscard]] static io_result<udp_socket> bind(io_context& on, const endpoint& local,
                                                    const udp_options& options = {}) noexcept;

    /// The same, awaited: the environment provides the loop.
    ///
    /// Errors:        as above.
    /// Cancellation:  none; it completes at once.
    /// Threads:       resumes on the caller's executor.
    /// Cost:          two system calls or more, no allocation.
    [[nodiscard]] static auto bind(const endpoint& local,
                                   const udp_options& options = {}) noexcept {
        return immediate{
            [local, options](io_context& on) noexcept { return bind(on, local, options); }};
    }

    /// Takes ownership of a UDP socket that no other code will close, for use on `on`.
    /// @param  family  Of its addresses: v4 or v6.
    [[nodiscard]] static udp_socket adopt(io_context& on, int number,
                                          endpoint::family family) noexcept {
        return udp_socket{handle{on.host(), number}, family};
    }

private:
    udp_socket(handle open, endpoint::family family) noexcept
        : basic_datagram_socket{std::move(open), family} {}
};

}  // namespace gyre
