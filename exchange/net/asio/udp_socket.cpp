// SPDX-License-Identifier: BSL-1.0
//
// What Asio has no interface for: see udp_socket.hpp.
#include <exchange/net/asio/udp_socket.hpp>

#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace exchange {

using gyre::activity;
using gyre::endpoint;
using gyre::error;
using gyre::io_result;
using gyre::network_interface;

int whole_length_flag() noexcept { return MSG_TRUNC; }

int asio_udp_socket::level() const noexcept {
    return family_ == endpoint::family::v6 ? IPPROTO_IPV6 : IPPROTO_IP;
}

io_result<asio_udp_socket> asio_udp_socket::bind(asio_loop& on, const endpoint& local,
                                                 const gyre::udp_options& options) {
    if (!is_internet(local)) return error{gyre::errc::address_family_not_supported, activity::open};
    boost::system::error_code failure;
    asio_datagrams socket{on.executor()};
    const auto address = to_asio_endpoint<endpoint_type>(local);
    socket.open(address.protocol(), failure);
    if (failure) return from_asio_error(failure, activity::open);

    asio_udp_socket made{std::move(socket), local.kind()};
    error failed;
    if (options.address_reused) failed = made.set_option(gyre::reuse_address{}).error();
    if (!failed && options.port_shared) failed = made.set_option(gyre::reuse_port{}).error();
    if (failed) return failed;
    made.open().bind(address, failure);
    if (failure) return from_asio_error(failure, activity::bind);
    return made;
}

io_result<> asio_udp_socket::connect(const endpoint& peer) {
    if (!is_open()) return closed(activity::connect);
    if (!is_internet(peer)) {
        return error{gyre::errc::address_family_not_supported, activity::connect};
    }
    boost::system::error_code failure;
    open().connect(to_asio_endpoint<endpoint_type>(peer), failure);
    return from_asio_error(failure, activity::connect);
}

// RFC 3678 5.1: one request for both families.
io_result<> asio_udp_socket::change_membership(int name, const endpoint& group,
                                               network_interface through) {
    group_req request{};
    request.gr_interface = through.index;
    std::memcpy(&request.gr_group, group.raw().data, group.raw().size);
    return set_raw({level(), name, &request, sizeof request});
}

io_result<> asio_udp_socket::join(const endpoint& group, network_interface through) {
    return change_membership(MCAST_JOIN_GROUP, group, through);
}

io_result<> asio_udp_socket::leave(const endpoint& group, network_interface through) {
    return change_membership(MCAST_LEAVE_GROUP, group, through);
}

io_result<> asio_udp_socket::set_number(int v4_name, int v6_name, int value) {
    const int name = family_ == endpoint::family::v6 ? v6_name : v4_name;
    return set_raw({level(), name, &value, sizeof value});
}

io_result<> asio_udp_socket::set_multicast_interface(network_interface through) {
    if (family_ == endpoint::family::v6) {
        return set_number(0, IPV6_MULTICAST_IF, static_cast<int>(through.index));
    }
    ip_mreqn request{};
    request.imr_ifindex = static_cast<int>(through.index);
    return set_raw({level(), IP_MULTICAST_IF, &request, sizeof request});
}

io_result<> asio_udp_socket::set_multicast_loopback(bool on) {
    return set_number(IP_MULTICAST_LOOP, IPV6_MULTICAST_LOOP, on ? 1 : 0);
}

io_result<> asio_udp_socket::set_multicast_hops(int hops) {
    return set_number(IP_MULTICAST_TTL, IPV6_MULTICAST_HOPS, hops);
}

io_result<network_interface> asio_udp_socket::find_interface(std::string_view name) const {
    if (!is_open()) return closed(activity::get_option);
    if (name.size() >= IF_NAMESIZE) return error{gyre::errc::name_too_long, activity::get_option};
    const unsigned found = ::if_nametoindex(std::string{name}.c_str());
    if (found == 0) return error::from_errno(errno, activity::get_option);
    return network_interface{found};
}

}  // namespace exchange
