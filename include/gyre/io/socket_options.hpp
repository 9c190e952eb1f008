// SPDX-License-Identifier: BSL-1.0
//
// Socket options as types, so that none is set with the wrong size, unit or level.
//
// Each is a value with the kernel's level and name; `socket.set_option(no_delay{true})` and
// `socket.get_option<no_delay>()` do the rest, at once and outside of coroutines too. What a socket does
// not have is `errc::no_protocol_option` or `errc::not_supported`, what the program may not do
// `errc::operation_not_permitted`, and a value that the kernel finds out of range `errc::invalid_argument`.
// It is lenient with some: of a hop limit -1 is its default, and a buffer's size is cut to what it grants.
#pragma once

#include <gyre/base/result.hpp>
#include <gyre/runtime/submit.hpp>

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <limits>

namespace gyre {

/// The kernel's level and name of an option. src/io/socket_options.cpp compares each with the system's
/// headers.
struct option_key {
    int level = 0;
    int name = 0;

    friend bool operator==(const option_key&, const option_key&) = default;
};

namespace option_level {
inline constexpr int socket = 1;
inline constexpr int ip = 0;
inline constexpr int tcp = 6;
inline constexpr int udp = 17;
inline constexpr int ipv6 = 41;
}  // namespace option_level

/// What can be read: the kernel's numbers, and a conversion from the bytes that it gives.
template <class Option>
concept readable_socket_option = requires(typename Option::representation raw) {
    { Option::level() } -> std::same_as<int>;
    { Option::name() } -> std::same_as<int>;
    { Option::from_raw(raw) } -> std::same_as<Option>;
};

/// What can be set as well.
template <class Option>
concept socket_option = readable_socket_option<Option> && requires(Option option) {
    { option.to_raw() } -> std::same_as<typename Option::representation>;
};

/// What IPv6 has another number for. It is set for both on an IPv6 socket, whose peers may be IPv4's, and
/// read from the one of its family.
template <class Option>
concept option_of_either_family = requires {
    { Option::key_of_ipv6() } -> std::same_as<option_key>;
};

/// An option that is on or off.
template <class Self, option_key Key>
struct switch_option {
    using representation = int;

    bool on = true;

    [[nodiscard]] static constexpr int level() noexcept { return Key.level; }
    [[nodiscard]] static constexpr int name() noexcept { return Key.name; }
    [[nodiscard]] int to_raw() const noexcept { return on ? 1 : 0; }
    [[nodiscard]] static Self from_raw(int raw) noexcept { return Self{{raw != 0}}; }
};

/// An option that counts bytes.
template <class Self, option_key Key>
struct bytes_option {
    using representation = int;

    int bytes = 0;

    [[nodiscard]] static constexpr int level() noexcept { return Key.level; }
    [[nodiscard]] static constexpr int name() noexcept { return Key.name; }
    [[nodiscard]] int to_raw() const noexcept { return bytes; }
    [[nodiscard]] static Self from_raw(int raw) noexcept { return Self{{raw}}; }
};

/// An option that counts something else, or names it by a number.
template <class Self, option_key Key>
struct number_option {
    using representation = int;

    int number = 0;

    [[nodiscard]] static constexpr int level() noexcept { return Key.level; }
    [[nodiscard]] static constexpr int name() noexcept { return Key.name; }
    [[nodiscard]] int to_raw() const noexcept { return number; }
    [[nodiscard]] static Self from_raw(int raw) noexcept { return Self{{raw}}; }
};

/// An option that is a time. Longer ones than the kernel can count are as long as it can count.
template <class Self, option_key Key, class Unit>
struct time_option {
    using representation = int;

    Unit after{0};

    [[nodiscard]] static constexpr int level() noexcept { return Key.level; }
    [[nodiscard]] static constexpr int name() noexcept { return Key.name; }
    [[nodiscard]] int to_raw() const noexcept {
        constexpr std::int64_t least = std::numeric_limits<int>::min();
        constexpr std::int64_t most = std::numeric_limits<int>::max();
        return static_cast<int>(std::clamp<std::int64_t>(after.count(), least, most));
    }
    [[nodiscard]] static Self from_raw(int raw) noexcept { return Self{{Unit{raw}}}; }
};

// Of sockets of every kind.

/// Bind while old connections linger in TIME-WAIT; of datagrams, have several sockets in one group
/// (socket(7)). On by default for acceptors. Before binding.
struct reuse_address : switch_option<reuse_address, option_key{option_level::socket, 2}> {};

/// Several sockets on one port, of one user; connections, or datagrams of one sender each, are shared out
/// by the kernel (socket(7)). Before binding.
struct reuse_port : switch_option<reuse_port, option_key{option_level::socket, 15}> {};

/// The kernel's buffer for what has arrived; it doubles what is asked for, for its own needs, and grants up
/// to net.core.rmem_max (socket(7)). Of TCP: before listening or connecting, and it is not adapted any more
/// then.
struct receive_buffer : bytes_option<receive_buffer, option_key{option_level::socket, 8}> {};

/// The kernel's buffer for what has not left; the same, with net.core.wmem_max.
struct send_buffer : bytes_option<send_buffer, option_key{option_level::socket, 7}> {};

/// Send to hosts on a network of our own only, past all gateways (socket(7), SO_DONTROUTE).
struct route_denied : switch_option<route_denied, option_key{option_level::socket, 5}> {};

/// A mark for rules of routing and of the packet filter (SO_MARK).
/// Privilege: CAP_NET_ADMIN, or CAP_NET_RAW since Linux 5.17.
struct packet_mark : number_option<packet_mark, option_key{option_level::socket, 36}> {};

/// In which of an interface's queues packets wait (SO_PRIORITY); 0 to 6. It changes with `traffic_class`,
/// of IPv4.
/// Privilege: none up to 6; CAP_NET_ADMIN or CAP_NET_RAW above.
struct packet_priority : number_option<packet_priority, option_key{option_level::socket, 12}> {};

/// The processor that the last packets were taken in on; set on sockets that share a port, the one whose
/// packets this one wants (SO_INCOMING_CPU; listeners since Linux 6.1, datagrams 4.4). -1 before there was
/// one.
struct incoming_processor
    : number_option<incoming_processor, option_key{option_level::socket, 49}> {};

/// How long a read may poll the interface itself before it waits for an interrupt (SO_BUSY_POLL); 0: not.
/// A loop asks the interface while it waits only where net.core.busy_poll says so, too.
/// Privilege: none to lower it; CAP_NET_ADMIN to raise it.
struct busy_poll
    : time_option<busy_poll, option_key{option_level::socket, 46}, std::chrono::microseconds> {};

// Of TCP sockets. A listener's are inherited by what it accepts.

/// Send small segments at once (RFC 9293 3.7.4, tcp(7)). On by default for every TCP socket.
struct no_delay : switch_option<no_delay, option_key{option_level::tcp, 1}> {};

/// Send full segments only, until it is off again or 200 ms have passed: for a header written before its
/// file (tcp(7)). It is stronger than `no_delay`.
struct cork : switch_option<cork, option_key{option_level::tcp, 3}> {};

/// Acknowledge at once. The kernel turns it off, and on, by itself later, so it is set again behind reads
/// (tcp(7)).
struct quick_acknowledgements
    : switch_option<quick_acknowledgements, option_key{option_level::tcp, 12}> {};

/// Probe an idle peer (RFC 9293 3.8.4). Without the three below: after two hours, nine times, every 75 s.
struct keep_alive : switch_option<keep_alive, option_key{option_level::socket, 9}> {};

/// After how much silence the first probe is sent: 1 s to 32,767 s.
struct keep_alive_idle
    : time_option<keep_alive_idle, option_key{option_level::tcp, 4}, std::chrono::seconds> {};

/// How far the probes are apart: 1 s to 32,767 s.
struct keep_alive_interval
    : time_option<keep_alive_interval, option_key{option_level::tcp, 5}, std::chrono::seconds> {};

/// How many stay without an answer until the peer is given up: 1 to 127.
struct keep_alive_probes : number_option<keep_alive_probes, option_key{option_level::tcp, 6}> {};

/// How long sent data may stay unacknowledged before the connection is given up (RFC 5482); 0: the system's
/// default. It overrules `keep_alive_probes`.
struct user_timeout
    : time_option<user_timeout, option_key{option_level::tcp, 18}, std::chrono::milliseconds> {};

/// Of a listener: a connection is accepted when its first bytes are there, or this has passed; rounded up
/// to the kernel's pauses between handshakes, so that it reads back longer (tcp(7)). 0: at once.
struct defer_accept
    : time_option<defer_accept, option_key{option_level::tcp, 9}, std::chrono::seconds> {};

/// Of a listener: how many connections may bring bytes with their first packet (RFC 7413); 0: none. Others
/// may repeat such a packet, so what it asks for must bear being done twice. net.ipv4.tcp_fastopen must
/// have bit 2.
struct fast_open_queue : number_option<fast_open_queue, option_key{option_level::tcp, 23}> {};

/// Connect with the first write, which goes with the first packet (RFC 7413), where the peer has allowed it
/// before; `connect` is over at once then, and its errors are the write's. Before connecting
/// (connect_options::setup).
struct fast_open_connect : switch_option<fast_open_connect, option_key{option_level::tcp, 30}> {};

/// What may wait to be sent before a write waits (TCP_NOTSENT_LOWAT); 0: the system's default. See
/// `stream_socket::write_some`.
struct unsent_limit : bytes_option<unsent_limit, option_key{option_level::tcp, 25}> {};

// Of IPv4 and IPv6 sockets. Those of either family are set for both on an IPv6 socket, whose peers may be
// IPv4's.

/// The six bits of differentiated services, with two for congestion behind them that belong to the kernel
/// on TCP (RFC 2474, RFC 3168).
struct traffic_class {
    using representation = int;

    std::uint8_t bits = 0;

    [[nodiscard]] static constexpr int level() noexcept { return option_level::ip; }
    [[nodiscard]] static constexpr int name() noexcept { return 1; }
    [[nodiscard]] static constexpr option_key key_of_ipv6() noexcept {
        return {option_level::ipv6, 67};
    }
    [[nodiscard]] int to_raw() const noexcept { return bits; }
    [[nodiscard]] static traffic_class from_raw(int raw) noexcept {
        return {static_cast<std::uint8_t>(raw)};
    }
};

/// How many routers a packet to one receiver may pass, plus 1: 1 to 255.
struct hop_limit : number_option<hop_limit, option_key{option_level::ip, 2}> {
    [[nodiscard]] static constexpr option_key key_of_ipv6() noexcept {
        return {option_level::ipv6, 16};
    }
};

/// The same to a group, of datagrams only: 0 stays on this host, 1 (the default) on this network.
struct multicast_hop_limit : number_option<multicast_hop_limit, option_key{option_level::ip, 33}> {
    [[nodiscard]] static constexpr option_key key_of_ipv6() noexcept {
        return {option_level::ipv6, 18};
    }
};

/// Whether datagrams to groups come back to sockets of this host that joined; on by default.
struct multicast_loopback : switch_option<multicast_loopback, option_key{option_level::ip, 34}> {
    [[nodiscard]] static constexpr option_key key_of_ipv6() noexcept {
        return {option_level::ipv6, 19};
    }
};

/// Of a socket that is bound to no group: whether it gets what any socket of this host has joined, and not
/// only it. On by default, as ever on Linux; off, its own joins and sources are all that it hears (ip(7),
/// IP_MULTICAST_ALL; IPv6 since Linux 4.20).
struct all_groups : switch_option<all_groups, option_key{option_level::ip, 49}> {
    [[nodiscard]] static constexpr option_key key_of_ipv6() noexcept {
        return {option_level::ipv6, 29};
    }
};

/// Of IPv4 datagrams: sending to broadcast addresses is allowed; without it `errc::permission_denied`.
struct broadcast_allowed : switch_option<broadcast_allowed, option_key{option_level::socket, 6}> {};

/// Of datagrams: each send is cut into datagrams of this size, the last may be shorter (UDP_SEGMENT, Linux
/// 4.18); 0: not. At most 64 of them in 65,507 bytes at once; newer kernels take more.
/// `errc::no_protocol_option` before Linux 4.18.
struct segment_size : bytes_option<segment_size, option_key{option_level::udp, 103}> {};

/// Keep IPv4 off an IPv6 socket (ipv6(7)). Before binding.
struct v6_only : switch_option<v6_only, option_key{option_level::ipv6, 26}> {};

/// Let the kernel choose the port of a bound source address only when it connects, so that one port may
/// serve connections to several peers (ip(7), IP_BIND_ADDRESS_NO_PORT).
struct late_port : switch_option<late_port, option_key{option_level::ip, 24}> {};

// How a connection ends.

/// What `close` does with what was not sent yet (socket(7)): goes on in the background, as by default, or
/// drops it and resets the connection. The third way of SO_LINGER, to block in close, would hold up the
/// loop, and does not exist here: `stream_socket::close_gracefully` waits for the peer, with a limit.
struct reset_on_close : switch_option<reset_on_close, option_key{option_level::socket, 13}> {
    struct representation {
        int on;
        int seconds;
    };

    [[nodiscard]] representation to_raw() const noexcept { return {on ? 1 : 0, 0}; }
    [[nodiscard]] static reset_on_close from_raw(representation raw) noexcept {
        return {{raw.on != 0 && raw.seconds == 0}};
    }
};

/// Who was at the other end of a Unix-domain connection, or had made the pair, when it came about (unix(7),
/// SO_PEERCRED). Read only. Numbers as they are called in this process's namespaces; 0 or 65,534 where they
/// are not.
struct peer_credentials {
    struct representation {
        int process;
        std::uint32_t user;
        std::uint32_t group;
    };

    int process = 0;  ///< Its number may be another's by now: see `peer_process`.
    std::uint32_t user = 0;
    std::uint32_t group = 0;

    [[nodiscard]] static constexpr int level() noexcept { return option_level::socket; }
    [[nodiscard]] static constexpr int name() noexcept { return 17; }
    [[nodiscard]] static peer_credentials from_raw(representation raw) noexcept {
        return {raw.process, raw.user, raw.group};
    }
};

static_assert(socket_option<no_delay> && socket_option<receive_buffer> &&
              socket_option<reset_on_close> && socket_option<user_timeout> &&
              socket_option<traffic_class> && option_of_either_family<hop_limit> &&
              readable_socket_option<peer_credentials> && !socket_option<peer_credentials>);

}  // namespace gyre
