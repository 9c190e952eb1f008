// SPDX-License-Identifier: BSL-1.0
//
// What is told of a datagram beside its bytes, and what can be chosen for one that is sent.
//
// A feed handler wants to know when a datagram arrived and through which interface; a server with several
// addresses has to answer from the one that was asked. basic_datagram_socket.hpp sends and receives.
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

    /// SO_TIMESTAMPING: when the interface itself took it in, by its own clock. Of interfaces that can
    /// (`find_timestamps`) and were set up for it, which takes CAP_NET_ADMIN (SIOCSHWTSTAMP); Linux 4.13.
    bool hardware_arrival = false;

    bool hops = false;           ///< IP_RECVTTL: how many routers it might still have passed.
    bool traffic_class = false;  ///< IP_RECVTOS.
    bool losses = false;         ///< SO_RXQ_OVFL: how many the socket had no room for.

    /// UDP_GRO (Linux 5.0): datagrams of one sender and one size that came in a row may arrive as one, with
    /// that size beside them; give them 64 KiB of room.
    bool coalesced = false;
};

/// What an interface can tell of when a packet arrived.
struct timestamp_support {
    bool software = false;  ///< The kernel stamps what it hands over, by the system's clock.
    bool hardware = false;  ///< The interface stamps, by a clock of its own.

    /// Of the hardware: it can be told to stamp every packet, and not only those that synchronize clocks
    /// (PTP, IEEE 1588).
    bool every_packet = false;

    std::optional<int> clock;  ///< N of /dev/ptpN, by which the hardware stamps; null: it has none.

    friend bool operator==(const timestamp_support&, const timestamp_support&) = default;

    /// @param  times    SOF_TIMESTAMPING_*
    /// @param  filters  Bits 1 << HWTSTAMP_FILTER_*.
    /// @param  device   N of /dev/ptpN; -1: none.
    [[nodiscard]] static timestamp_support from_raw(std::uint32_t times, std::uint32_t filters,
                                                    std::int32_t device) noexcept;
};

/// A time by the clock of a network interface, which need not agree with the system's, nor with another
/// interface's, unless something keeps them together (ptp4l and phc2sys, for example).
struct interface_time {
    std::chrono::nanoseconds
        since_beginning{};  ///< Of that clock; of one that is kept, 1970, in TAI.
    network_interface
        by;  ///< Whose clock: `find_timestamps` names it. 0 where the kernel does not say.

    friend bool operator==(const interface_time&, const interface_time&) = default;
};

/// What was told of a datagram. What was not asked for is null; so is what the kernel did not say.
struct datagram_facts {
    /// By the system's clock, which may be set.
    using system_time = std::chrono::sys_time<std::chrono::nanoseconds>;

    std::size_t size = 0;    ///< Bytes in the buffer; a datagram may be empty.
    bool truncated = false;  ///< There were more, which are lost.
    endpoint peer;           ///< Who sent it.

    std::optional<ip_address> destination;           ///< An address of this host, or a group.
    network_interface through;                       ///< Where it came in; 0: untold.
    std::optional<system_time> arrival;              ///< By the system's clock.
    std::optional<interface_time> hardware_arrival;  ///< By an interface's.
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
    alignas(8) std::array<std::byte, 296> control_{};
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
