// SPDX-License-Identifier: BSL-1.0
//
// What is told of a datagram beside its bytes, and what can be chosen for one that is sent.
//
// A feed handler wants to know when a datagram arrived and through which interface; a server with several
// addresses has to answer from the one that was asked. udp_socket.hpp sends and receives.
#pragma once

#include <gyre/base/result.hpp>
#include <gyre/io/datagram_message.hpp>
#include <gyre/io/endpoint.hpp>
#include <gyre/io/ip_address.hpp>
#include <gyre/runtime/submit.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace gyre {

/// A network interface by its number, as `ip link` shows it; 0 lets the kernel choose.
struct network_interface {
    std::uint32_t index = 0;

    friend bool operator==(const network_interface&, const network_interface&) = default;
};

/// What a socket is to tell of each datagram that it receives. Each costs the kernel a little.
struct datagram_reports {
    datagram_reports() noexcept = default;

    bool destination = false;  ///< IP_PKTINFO: to which address it was sent, and where it came in.
    bool arrival = false;      ///< SO_TIMESTAMPNS: when the kernel took it in.
    bool hardware_arrival =
        false;  ///< The same by the interface's clock, of interfaces that were set up for it.
    bool hops = false;           ///< IP_RECVTTL: how many routers it might still have passed.
    bool traffic_class = false;  ///< IP_RECVTOS.
    bool losses = false;         ///< SO_RXQ_OVFL: how many the socket had no room for.

    /// UDP_GRO (Linux 5.0): datagrams of one sender and one size that came in a row may arrive as one, with
    /// that size beside them; give them 64 KiB of room.
    bool coalesced = false;
};

/// What was told of a datagram. What was not asked for is null; so is what the kernel did not say.
struct datagram_facts {
    /// By the system's clock, which may be set.
    using system_time = std::chrono::sys_time<std::chrono::nanoseconds>;

    std::size_t size = 0;    ///< Bytes in the buffer; a datagram may be empty.
    bool truncated = false;  ///< There were more, which are lost.
    endpoint peer;           ///< Who sent it.

    std::optional<ip_address> destination;  ///< An address of this host, or a group.
    network_interface through;              ///< Where it came in; 0: untold.
    std::optional<system_time> arrival;
    std::optional<std::chrono::nanoseconds>
        hardware_arrival;  ///< Since the beginning of that clock.
    std::optional<int> hops;
    std::optional<std::uint8_t> traffic_class;

    /// Above 0: it is several datagrams of this size, the last of which may be shorter.
    std::size_t segment_size = 0;

    /// Lost before this one for want of room, since the socket was opened; modulo 2^32. Null before the
    /// first.
    std::optional<std::uint32_t> lost;
};

/// What may be chosen for a datagram.
struct datagram_choices {
    datagram_choices() noexcept = default;

    /// The address of this host that it comes from; null: that of the socket, or of the route.
    std::optional<ip_address> source;

    network_interface through;  ///< 0: by the routing table.

    /// Above 0: the bytes are cut into datagrams of this size, the last may be shorter (UDP_SEGMENT, Linux
    /// 4.18; older kernels send one long datagram, and have no option `segment_size`).
    std::uint16_t segment_size = 0;
};

// Implementation: control messages (cmsg(3)).

/// Of a receive that tells everything.
class finish_datagram_facts : public datagram_message {
public:
    explicit finish_datagram_facts(mutable_buffers into) noexcept : datagram_message{into} {}

    [[nodiscard]] std::int32_t prepare(message_operation& op, io_context& on) noexcept;
    [[nodiscard]] io_result<datagram_facts> operator()(const message_operation& op) const noexcept;

private:
    alignas(8) std::array<std::byte, 288> control_{};
};

/// Of a send with choices.
class finish_chosen_send : public datagram_message {
public:
    finish_chosen_send(const_buffers from, const endpoint& to, const datagram_choices& choices,
                       endpoint::family family) noexcept
        : datagram_message{from, to}, choices_{choices}, family_{family} {}

    [[nodiscard]] std::int32_t prepare(message_operation& op, io_context& on) noexcept;
    [[nodiscard]] io_result<> operator()(const message_operation& op) const noexcept {
        return error_of(op);
    }

private:
    datagram_choices choices_;
    endpoint::family family_;
    alignas(8) std::array<std::byte, 64> control_{};
};

}  // namespace gyre
