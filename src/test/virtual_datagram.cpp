// SPDX-License-Identifier: BSL-1.0
//
// Messages: see virtual_datagram.hpp. What is said of Linux is in udp(7) and ip(7).
#include <test/virtual_datagram.hpp>

#include <test/virtual_host.hpp>
#include <test/virtual_network.hpp>

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>

namespace gyre::test {
namespace {

constexpr std::size_t payload_max = 65'507;  // RFC 768, less the headers.

endpoint without_mapping(const endpoint& it) { return {it.address().unmapped(), it.port()}; }

}  // namespace

int virtual_datagram::connect(const endpoint& to, bool) {
    if (to.address_family() == AF_UNSPEC) {
        peer_ = {};
        return 0;
    }
    if (to.address_family() != family()) return -EAFNOSUPPORT;
    const int failed = bind_somewhere(to);
    if (failed == 0) peer_ = to;
    return failed;
}

received virtual_datagram::receive(memory_parts into) {
    if (failure_ != 0) return {take_failure(), {}, false};
    if (queue_.empty()) return {-EAGAIN, {}, false};
    const datagram it = std::move(queue_.front());
    queue_.pop_front();
    held_ -= it.bytes.size();
    std::size_t taken = 0;
    for (const auto& [data, size] : into) {
        const std::size_t some = std::min(size, it.bytes.size() - taken);
        if (some > 0) std::memcpy(data, it.bytes.data() + taken, some);
        taken += some;
    }
    return {static_cast<int>(taken), it.from, taken < it.bytes.size()};
}

int virtual_datagram::send(memory_parts from, const endpoint& to) {
    if (failure_ != 0) return take_failure();
    const endpoint given = to.kind() == endpoint::family::none ? peer_ : to;
    if (given.kind() == endpoint::family::none) return -EDESTADDRREQ;
    if (given.address_family() != family()) return -EAFNOSUPPORT;
    const std::size_t size = gyre::test::size_of(from);
    if (size > payload_max) return -EMSGSIZE;
    if (given.port() == 0) return -EINVAL;
    endpoint target = without_mapping(given);
    if (target.address().is_unspecified()) {
        target = target.address().is_v4() ? endpoint{ipv4::loopback(), target.port()}
                                          : endpoint{ipv6::loopback(), target.port()};
    }
    if (const int failed = bind_somewhere(target); failed != 0) return failed;

    datagram it;
    const ip_address source = local_.address().unmapped();
    const bool unnamed = source.is_unspecified() || source.is_multicast();
    it.from = {unnamed ? host().source_for(target) : source, local_.port()};
    for (const auto& [data, part] : from) it.bytes.insert(it.bytes.end(), data, data + part);
    if (target.address().is_multicast()) return send_to_group(target, it);

    virtual_host* const there = host().network().find(host(), target.address());
    if (there == nullptr) return static_cast<int>(size);  // Nobody misses it.
    host().network().send_packet(
        host(), *there, size,
        [there, target, it, sender = weak_from_this()] { deliver_on(*there, target, it, sender); });
    return static_cast<int>(size);
}

int virtual_datagram::send_to_group(const endpoint& group, const datagram& what) {
    const bool v6 = family() == AF_INET6;
    // By default on, which nothing kept means as well.
    std::array<std::byte, sizeof(int)> raw{};
    const int level = v6 ? IPPROTO_IPV6 : IPPROTO_IP;
    const int loop_name = v6 ? IPV6_MULTICAST_LOOP : IP_MULTICAST_LOOP;
    const bool is_set = has_option(level, loop_name);
    int looped = 1;
    if (is_set && get_option(level, loop_name, raw) > 0)
        std::memcpy(&looped, raw.data(), sizeof looped);
    for (virtual_host* const each : host().network().hosts()) {
        if (each == &host() && looped == 0) continue;
        host().network().send_packet(host(), *each, what.bytes.size(),
                                     [each, group, what] { deliver_on(*each, group, what, {}); });
    }
    return static_cast<int>(what.bytes.size());
}

// Of several that share a port, one; of a group, all that have joined.
void virtual_datagram::deliver_on(virtual_host& there, const endpoint& to, const datagram& it,
                                  const std::weak_ptr<virtual_socket>& sender) {
    std::vector<virtual_datagram*> found;
    for (virtual_socket* const each : there.bound_to_port(to.port(), SOCK_DGRAM)) {
        auto* const socket = static_cast<virtual_datagram*>(each);
        if (socket->wants(to, it.from)) found.push_back(socket);
    }
    if (to.address().is_multicast()) {
        for (virtual_datagram* const each : found) each->deliver(it);
        return;
    }
    if (!found.empty()) {
        const std::size_t which = found.size() == 1 ? 0 : there.time().chance().below(found.size());
        return found[which]->deliver(it);
    }
    // An ICMP message tells those that have fixed their peer (udp(7)).
    const auto back = std::static_pointer_cast<virtual_datagram>(sender.lock());
    if (back == nullptr || back->peer_.kind() == endpoint::family::none) return;
    there.network().send_packet(there, back->host(), 0, [sender] {
        const auto told = std::static_pointer_cast<virtual_datagram>(sender.lock());
        if (told == nullptr || told->closed_) return;
        told->failure_ = ECONNREFUSED;
        told->changed();
    });
}

bool virtual_datagram::wants(const endpoint& to, const endpoint& from) const {
    if (peer_.kind() != endpoint::family::none && without_mapping(peer_) != from) return false;
    if (!to.address().is_multicast()) return is_at(to);
    return std::ranges::find(groups_, to.address()) != groups_.end();
}

void virtual_datagram::deliver(const datagram& it) {
    const std::size_t cost = std::max<std::size_t>(it.bytes.size(), 1);
    if (held_ + cost > buffer_size(SO_RCVBUF)) return;  // As full kernels do: in silence.
    queue_.push_back({as_seen_by(family(), it.from), it.bytes});
    held_ += it.bytes.size();
    changed();
}

std::uint32_t virtual_datagram::ready() const noexcept {
    std::uint32_t events = POLLOUT;
    if (!queue_.empty()) events |= POLLIN;
    if (failure_ != 0) events |= POLLERR | POLLIN;
    return events;
}

int virtual_datagram::join(const endpoint& group) {
    if (group.kind() == endpoint::family::none || group.kind() == endpoint::family::local ||
        !group.address().is_multicast()) {
        return -EINVAL;
    }
    if (std::ranges::find(groups_, group.address()) != groups_.end()) return -EADDRINUSE;
    groups_.push_back(group.address());
    return 0;
}

int virtual_datagram::leave(const endpoint& group) {
    return std::erase(groups_, group.address()) > 0 ? 0 : -EADDRNOTAVAIL;
}

void virtual_datagram::close() {
    virtual_socket::close();
    host().leave_port(*this);
    queue_.clear();
    held_ = 0;
}

}  // namespace gyre::test
