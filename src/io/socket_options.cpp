// SPDX-License-Identifier: BSL-1.0
//
// That the numbers of include/gyre/io/socket_options.hpp are the kernel's.
#include <gyre/io/socket_options.hpp>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <sys/socket.h>

namespace gyre {
namespace {

template <class Option>
constexpr bool is(int level, int name) noexcept {
    return Option::level() == level && Option::name() == name;
}

template <option_of_either_family Option>
constexpr bool is(int name, int level, int name_of_ipv6) noexcept {
    return is<Option>(IPPROTO_IP, name) && Option::key_of_ipv6() == option_key{level, name_of_ipv6};
}

static_assert(is<reuse_address>(SOL_SOCKET, SO_REUSEADDR));
static_assert(is<reuse_port>(SOL_SOCKET, SO_REUSEPORT));
static_assert(is<receive_buffer>(SOL_SOCKET, SO_RCVBUF));
static_assert(is<send_buffer>(SOL_SOCKET, SO_SNDBUF));
static_assert(is<route_denied>(SOL_SOCKET, SO_DONTROUTE));
static_assert(is<packet_mark>(SOL_SOCKET, SO_MARK));
static_assert(is<packet_priority>(SOL_SOCKET, SO_PRIORITY));
static_assert(is<incoming_processor>(SOL_SOCKET, SO_INCOMING_CPU));
static_assert(is<busy_poll>(SOL_SOCKET, SO_BUSY_POLL));
static_assert(is<keep_alive>(SOL_SOCKET, SO_KEEPALIVE));
static_assert(is<broadcast_allowed>(SOL_SOCKET, SO_BROADCAST));
static_assert(is<reset_on_close>(SOL_SOCKET, SO_LINGER));
static_assert(is<peer_credentials>(SOL_SOCKET, SO_PEERCRED));

static_assert(is<no_delay>(IPPROTO_TCP, TCP_NODELAY));
static_assert(is<cork>(IPPROTO_TCP, TCP_CORK));
static_assert(is<quick_acknowledgements>(IPPROTO_TCP, TCP_QUICKACK));
static_assert(is<keep_alive_idle>(IPPROTO_TCP, TCP_KEEPIDLE));
static_assert(is<keep_alive_interval>(IPPROTO_TCP, TCP_KEEPINTVL));
static_assert(is<keep_alive_probes>(IPPROTO_TCP, TCP_KEEPCNT));
static_assert(is<user_timeout>(IPPROTO_TCP, TCP_USER_TIMEOUT));
static_assert(is<defer_accept>(IPPROTO_TCP, TCP_DEFER_ACCEPT));
static_assert(is<fast_open_queue>(IPPROTO_TCP, TCP_FASTOPEN));
static_assert(is<fast_open_connect>(IPPROTO_TCP, TCP_FASTOPEN_CONNECT));
static_assert(is<unsent_limit>(IPPROTO_TCP, TCP_NOTSENT_LOWAT));

static_assert(is<traffic_class>(IP_TOS, IPPROTO_IPV6, IPV6_TCLASS));
static_assert(is<hop_limit>(IP_TTL, IPPROTO_IPV6, IPV6_UNICAST_HOPS));
static_assert(is<multicast_hop_limit>(IP_MULTICAST_TTL, IPPROTO_IPV6, IPV6_MULTICAST_HOPS));
static_assert(is<multicast_loopback>(IP_MULTICAST_LOOP, IPPROTO_IPV6, IPV6_MULTICAST_LOOP));
static_assert(is<all_groups>(IP_MULTICAST_ALL, IPPROTO_IPV6, IPV6_MULTICAST_ALL));
static_assert(is<segment_size>(IPPROTO_UDP, UDP_SEGMENT));
static_assert(is<v6_only>(IPPROTO_IPV6, IPV6_V6ONLY));
static_assert(is<late_port>(IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT));

static_assert(sizeof(reset_on_close::representation) == sizeof(linger));
static_assert(sizeof(peer_credentials::representation) == sizeof(ucred));

}  // namespace
}  // namespace gyre
