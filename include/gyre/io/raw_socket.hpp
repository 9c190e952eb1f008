// SPDX-License-Identifier: BSL-1.0
//
// Packets of IP with any protocol above it: for protocols that the kernel does not speak, and for programs
// that look at what it does with those that it does (raw(7)).
//
// Linux lets programs with CAP_NET_RAW have such sockets, root among them. icmp_socket.hpp asks hosts
// whether they are there, which takes no privilege as a rule.
#pragma once

#include <gyre/base/buffer.hpp>
#include <gyre/base/result.hpp>
#include <gyre/io/basic_datagram_socket.hpp>
#include <gyre/io/endpoint.hpp>
#include <gyre/io/ip_address.hpp>
#include <gyre/runtime/submit.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace gyre {

/// How a raw socket is opened: who writes its headers, and what it is bound to.
struct raw_options {
    raw_options() noexcept = default;

    /// What is sent begins with a header of IPv4, which says from and to whom it is (IP_HDRINCL). The kernel
    /// fills in its length and checksum, and its identification and source where they are 0. Of IPv6
    /// `errc::invalid_argument`: there the kernel writes the header.
    bool header_written = false;

    /// An address of this host: only what was sent to it is received, and what is sent comes from it.
    std::optional<ip_address> address;

    std::string device;  ///< The interface that it sends and receives through; empty: any.
};

/// A raw socket of one protocol, or none. Moves; closes at the latest when destroyed.
///
/// Each sees a copy of every packet of its protocol that this host receives for itself, beside the one it is
/// for; of TCP and UDP, too. Of IPv4 what is received begins with the packet's header (`payload_of_ipv4`); of
/// IPv6 it does not, and `receive_detailed` tells what is asked for of it. The port of an endpoint means
/// nothing here, and is 0. Of ICMPv6 the kernel writes and checks the checksum (RFC 3542 3.1); of everything
/// else it is the program's.
class raw_socket : public basic_datagram_socket {
public:
    raw_socket() noexcept = default;

    /// Opens one.
    ///
    /// @param  on        The loop whose host it is opened on. Inside a coroutine leave it out and await.
    /// @param  protocol  Of IP, 1 to 255, as in RFC 5237's register. 255 receives nothing, and what it sends
    ///                   begins with a header.
    /// Errors:           `errc::operation_not_permitted` without CAP_NET_RAW,
    ///                   `errc::address_family_not_supported` for others than v4 and v6, and for an address
    ///                   of the other one; `errc::protocol_not_supported` for 0,
    ///                   `errc::invalid_argument`, `errc::address_not_available`, `errc::no_such_device`.
    [[nodiscard]] static io_result<raw_socket> open(io_context& on, endpoint::family family,
                                                    std::uint8_t protocol,
                                                    const raw_options& options = {}) noexcept;

    /// The same, awaited: the environment provides the loop.
    ///
    /// Errors:        as above.
    /// Cancellation:  none; it completes at once.
    /// Threads:       resumes on the caller's executor.
    /// Cost:          a system call, and one for each option; a copy of the options.
    [[nodiscard]] static auto open(endpoint::family family, std::uint8_t protocol,
                                   raw_options options = {}) noexcept {
        return immediate{[family, protocol, options = std::move(options)](io_context& on) noexcept {
            return open(on, family, protocol, options);
        }};
    }

private:
    raw_socket(handle open, endpoint::family family) noexcept
        : basic_datagram_socket{std::move(open), family} {}
};

/// What follows the header of a packet of IPv4, its options included; empty if there is no whole header.
[[nodiscard]] const_buffer payload_of_ipv4(const_buffer packet) noexcept;

}  // namespace gyre
