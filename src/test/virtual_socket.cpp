// SPDX-License-Identifier: BSL-1.0
//
// Names and options of sockets: see virtual_socket.hpp.
#include <test/virtual_socket.hpp>

#include <test/virtual_host.hpp>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace gyre::test {
namespace {

bool is_any(const endpoint& it) noexcept {
    const bool numbered = it.kind() == endpoint::family::v4 || it.kind() == endpoint::family::v6;
    return numbered && it.address().is_unspecified();
}

bool changes_sources(int name) noexcept {
    return name == MCAST_JOIN_SOURCE_GROUP || name == MCAST_LEAVE_SOURCE_GROUP ||
           name == MCAST_BLOCK_SOURCE || name == MCAST_UNBLOCK_SOURCE;
}

// What would tell more of a datagram than a world knows (basic_datagram_socket::report).
bool asks_for_reports(int level, int name) noexcept {
    if (level == SOL_SOCKET)
        return name == SO_TIMESTAMPNS || name == SO_TIMESTAMPING || name == SO_RXQ_OVFL;
    if (level == IPPROTO_IP) return name == IP_PKTINFO || name == IP_RECVTTL || name == IP_RECVTOS;
    return level == IPPROTO_IPV6 &&
           (name == IPV6_RECVPKTINFO || name == IPV6_RECVHOPLIMIT || name == IPV6_RECVTCLASS);
}

template <class Value>
int copy_out(const Value& value, std::span<std::byte> into) noexcept {
    const std::size_t size = std::min(into.size(), sizeof value);
    std::memcpy(into.data(), &value, size);
    return static_cast<int>(size);
}

}  // namespace

endpoint as_seen_by(int family, const endpoint& it) {
    if (family != AF_INET6 || it.kind() != endpoint::family::v4) return it;
    return {ipv6::mapped(it.v4()), it.port()};
}

std::size_t size_of(memory_parts parts) noexcept {
    std::size_t sum = 0;
    for (const auto& [data, size] : parts) sum += size;
    return sum;
}

int virtual_socket::bind(const endpoint& local) {
    if (local_.kind() != endpoint::family::none &&
        (local_.kind() == endpoint::family::local || local_.port() != 0)) {
        return -EINVAL;
    }
    if (local.address_family() != family_) return -EAFNOSUPPORT;
    if (local.kind() == endpoint::family::local) {
        const int failed = host_.enter_name(local, weak_from_this());
        if (failed == 0) local_ = local;
        return failed;
    }
    if (!is_any(local) && !local.address().is_multicast() && !host_.has(local.address()))
        return -EADDRNOTAVAIL;
    const bool late = number_option(IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT) != 0;
    if (local.port() == 0 && late && type_ == SOCK_STREAM) {
        local_ = local;
        return 0;
    }
    const std::uint16_t port = local.port() != 0 ? local.port() : host_.free_port(type_);
    const endpoint wanted{local.address(), port};
    for (const virtual_socket* const each : host_.bound_to_port(port, type_)) {
        if (each != this && each->keeps_out(*this, wanted)) return -EADDRINUSE;
    }
    local_ = wanted;
    host_.enter_port(*this);
    return 0;
}

// Whether `it` cannot have `wanted`, which has our port.
bool virtual_socket::keeps_out(const virtual_socket& it, const endpoint& wanted) const noexcept {
    const bool is_stream = type_ == SOCK_STREAM;
    const auto takes_both = [](const virtual_socket& each) {
        return each.family_ == AF_INET6 && each.number_option(IPPROTO_IPV6, IPV6_V6ONLY) == 0;
    };
    const bool met = family_ == it.family_ ? local_ == wanted || is_any(local_) || is_any(wanted)
                                           : (takes_both(*this) && is_any(local_)) ||
                                                 (takes_both(it) && is_any(wanted));
    const auto shares = [is_stream](const virtual_socket& each) {
        return each.number_option(SOL_SOCKET, SO_REUSEPORT) != 0 ||
               (!is_stream && each.number_option(SOL_SOCKET, SO_REUSEADDR) != 0);
    };
    // A connection may stay beside an acceptor, if both have said so.
    const auto reuses = [](const virtual_socket& each) {
        return each.number_option(SOL_SOCKET, SO_REUSEADDR) != 0;
    };
    const bool connection = is_stream && peer_.kind() != endpoint::family::none;
    if (connection && reuses(*this) && reuses(it)) return false;
    return met && !(shares(*this) && shares(it));
}

int virtual_socket::bind_somewhere(const endpoint& towards) {
    const bool has_port = local_.kind() != endpoint::family::none && local_.port() != 0;
    const bool has_address = local_.kind() != endpoint::family::none && !is_any(local_);
    const std::uint16_t port = has_port ? local_.port() : host_.free_port(type_);
    if (port == 0) return -EADDRNOTAVAIL;
    const ip_address address = has_address ? local_.address() : host_.source_for(towards);
    const bool any = type_ == SOCK_DGRAM && !has_address;
    local_ = endpoint{any ? virtual_host::unspecified(family_) : address, port};
    if (!has_port) host_.enter_port(*this);
    return 0;
}

bool virtual_socket::is_at(const endpoint& to) const noexcept {
    if (closed_ || local_.kind() == endpoint::family::none) return false;
    if (local_.kind() == endpoint::family::local || to.kind() == endpoint::family::local)
        return local_ == to;
    if (local_.port() != to.port()) return false;
    if (local_.address() == to.address()) return true;
    if (!is_any(local_)) return false;
    if (local_.kind() == to.kind()) return true;
    return family_ == AF_INET6 && number_option(IPPROTO_IPV6, IPV6_V6ONLY) == 0;
}

int virtual_socket::closeness() const noexcept {
    return (peer_.kind() != endpoint::family::none ? 2 : 0) + (is_any(local_) ? 0 : 1);
}

void virtual_socket::changed() noexcept {
    for (descriptor_slot* const each : numbers_) host_.note_change(*each);
}

int virtual_socket::number_option(int level, int name) const noexcept {
    const auto found = options_.find({level, name});
    int value = 0;
    if (found == options_.end() || found->second.size() < sizeof value) return 0;
    std::memcpy(&value, found->second.data(), sizeof value);
    return value;
}

std::size_t virtual_socket::buffer_size(int name) const noexcept {
    // The kernel doubles what it is told, for what it keeps besides (socket(7)), and has a least.
    constexpr int least = 2304;
    if (const int set = number_option(SOL_SOCKET, name); set > 0)
        return static_cast<std::size_t>(std::max(set, least));
    return name == SO_SNDBUF ? host_.options().send_buffer : host_.options().receive_buffer;
}

int virtual_socket::set_option(int level, int name, std::span<const std::byte> value) {
    const auto membership = [&](auto change) {
        group_req request{};
        if (value.size() < sizeof request) return -EINVAL;
        std::memcpy(&request, value.data(), sizeof request);
        socket_address raw;
        raw.size =
            request.gr_group.ss_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
        std::memcpy(raw.data, &request.gr_group, raw.size);
        return (this->*change)(endpoint{raw});
    };
    const bool of_ip = level == IPPROTO_IP || level == IPPROTO_IPV6;
    if (of_ip && name == MCAST_JOIN_GROUP) return membership(&virtual_socket::join);
    if (of_ip && name == MCAST_LEAVE_GROUP) return membership(&virtual_socket::leave);
    if (level == IPPROTO_TCP && (type_ != SOCK_STREAM || family_ == AF_UNIX)) return -EOPNOTSUPP;
    if (level != SOL_SOCKET && level != IPPROTO_TCP && !of_ip) return -ENOPROTOOPT;
    if (level == SOL_SOCKET && name == SO_BINDTODEVICE) {
        std::string_view device{reinterpret_cast<const char*>(value.data()), value.size()};
        device = device.substr(0, device.find('\0'));
        if (device != "lo" && device != "eth0" && !device.empty()) return -ENODEV;
    }
    int number = 0;
    std::memcpy(&number, value.data(), std::min(value.size(), sizeof number));
    if (const int refused = refusal_of(level, name, number); refused != 0) return refused;
    std::vector<std::byte> kept{value.begin(), value.end()};
    if (level == SOL_SOCKET && (name == SO_SNDBUF || name == SO_RCVBUF)) {
        int size = 0;
        if (kept.size() < sizeof size) return -EINVAL;
        std::memcpy(&size, kept.data(), sizeof size);
        size = std::clamp(size, 0, 1 << 22) * 2;
        std::memcpy(kept.data(), &size, sizeof size);
    }
    options_[{level, name}] = std::move(kept);
    return 0;
}

// What is out of its range, or comes too late (ip(7), ipv6(7)).
int virtual_socket::refusal_of(int level, int name, int value) const noexcept {
    const bool of_ip = level == IPPROTO_IP || level == IPPROTO_IPV6;
    if (of_ip && changes_sources(name)) return -EOPNOTSUPP;
    constexpr int hops_max = 255;
    const bool is_hops = (level == IPPROTO_IP && name == IP_TTL) ||
                         (level == IPPROTO_IPV6 && name == IPV6_UNICAST_HOPS);
    if (is_hops && value != -1 && (value < 1 || value > hops_max)) return -EINVAL;
    if (level == IPPROTO_IPV6 && family_ != AF_INET6) return -ENOPROTOOPT;
    if (value != 0 && asks_for_reports(level, name)) return -ENOPROTOOPT;
    const bool is_bound = local_.kind() != endpoint::family::none;
    if (level == IPPROTO_IPV6 && name == IPV6_V6ONLY && is_bound) return -EINVAL;
    return 0;
}

int virtual_socket::get_option(int level, int name, std::span<std::byte> into) {
    int value = number_option(level, name);
    if (level == SOL_SOCKET) {
        if (name == SO_ERROR) value = std::exchange(failure_, 0);
        if (name == SO_TYPE) value = type_;
        if (name == SO_DOMAIN) value = family_;
        if (name == SO_SNDBUF || name == SO_RCVBUF) value = static_cast<int>(buffer_size(name));
    }
    if (level == IPPROTO_TCP && (type_ != SOCK_STREAM || family_ == AF_UNIX)) return -EOPNOTSUPP;
    if (level == IPPROTO_TCP && name == TCP_INFO) {
        std::array<std::uint64_t, 16> info{};  // linux/tcp.h, up to tcpi_bytes_acked.
        info.back() = bytes_acknowledged();
        return copy_out(info, into);
    }
    if (level == SOL_SOCKET && name == SO_MEMINFO) {
        std::array<std::uint32_t, 9> info{};  // linux/sock_diag.h.
        constexpr std::size_t written = 2;
        info[written] = static_cast<std::uint32_t>(bytes_untaken());
        return copy_out(info, into);
    }
    const auto found = options_.find({level, name});
    if (level == SOL_SOCKET && name == SO_BINDTODEVICE && found == options_.end()) return 0;
    if (found != options_.end() && found->second.size() != sizeof value) {
        const std::size_t size = std::min(into.size(), found->second.size());
        std::memcpy(into.data(), found->second.data(), size);
        return static_cast<int>(size);
    }
    return copy_out(value, into);
}

}  // namespace gyre::test
