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

// Of everybody, or of the loopback interface: that of other networks a world does not know.
bool is_broadcast(const ip_address& it) noexcept {
    if (!it.is_v4()) return false;
    const ipv4 bytes = it.v4();
    return bytes == ipv4{{255, 255, 255, 255}} || bytes == ipv4{{127, 255, 255, 255}};
}

bool is_for_all(const ip_address& it) noexcept { return it.is_multicast() || is_broadcast(it); }

endpoint without_mapping(const endpoint& it) { return {it.address().unmapped(), it.port()}; }

}  // namespace

void virtual_datagram::join(const std::shared_ptr<virtual_datagram>& one,
                            const std::shared_ptr<virtual_datagram>& other) {
    one->peer_here_ = other;
    other->peer_here_ = one;
}

int virtual_datagram::connect(const endpoint& to, bool) {
    if (to.address_family() == AF_UNSPEC) {
        peer_ = {};
        peer_here_.reset();
        return 0;
    }
    if (to.address_family() != family()) return -EAFNOSUPPORT;
    if (family() == AF_UNIX) {
        std::shared_ptr<virtual_datagram> found;
        const int failed = find_here(to, found);
        if (failed == 0) {
            peer_ = to;
            peer_here_ = found;
        }
        return failed;
    }
    // Whose interface it is on, nothing says (ipv6(7)).
    const ip_address there = to.address();
    if (there.is_v6() && there.is_link_local() && to.v6().zone == 0) return -EINVAL;
    if (const int failed = bind_somewhere(to); failed != 0) return failed;
    peer_ = to;
    // From now on it has the address that it sends from (udp(7)).
    if (local_.address().is_unspecified())
        local_ = as_seen_by(family(), {host().source_for(to), local_.port()});
    return 0;
}

bool virtual_datagram::connected() const noexcept {
    return family() == AF_UNIX ? peer_here_.lock() != nullptr : virtual_socket::connected();
}

received virtual_datagram::receive(memory_parts into, reading how) {
    if (failure_ != 0) return {take_failure(), {}, false};
    if (queue_.empty()) return {-EAGAIN, {}, false};
    const datagram it = queue_.front();
    std::size_t taken = 0;
    for (const auto& [data, size] : into) {
        const std::size_t some = std::min(size, it.bytes.size() - taken);
        if (some > 0) std::memcpy(data, it.bytes.data() + taken, some);
        taken += some;
    }
    if (how == reading::takes) {
        queue_.pop_front();
        held_ -= it.bytes.size();
        const auto waiting = std::exchange(waiting_, {});
        for (const auto& each : waiting) {
            if (const auto sender = each.lock()) sender->changed();
        }
    }
    return {static_cast<int>(taken), it.from, taken < it.bytes.size()};
}

int virtual_datagram::send(memory_parts from, const endpoint& to) {
    if (failure_ != 0) return take_failure();
    if (family() == AF_UNIX) return send_here(from, to);
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
    const bool allowed = number_option(SOL_SOCKET, SO_BROADCAST) != 0;
    if (is_broadcast(target.address()) && !allowed) return -EACCES;
    if (is_for_all(target.address())) return send_to_all(target, it);

    virtual_host* const there = host().network().find(host(), target.address());
    if (there == nullptr) return static_cast<int>(size);  // No receiver misses it.
    host().network().send_packet(
        host(), *there, size,
        [there, target, it, sender = weak_from_this()] { deliver_on(*there, target, it, sender); });
    return static_cast<int>(size);
}

// Within the machine nothing is lost: who finds no room waits, or is told where only a name is known
// (unix(7)).
int virtual_datagram::send_here(memory_parts from, const endpoint& to) {
    std::shared_ptr<virtual_datagram> there = peer_here_.lock();
    const bool by_name = to.kind() != endpoint::family::none;
    if (by_name) {
        if (const int failed = find_here(to, there); failed != 0) return failed;
    } else if (there == nullptr || there->closed_) {
        return peer_.kind() == endpoint::family::none && there == nullptr ? -ENOTCONN
                                                                          : -ECONNREFUSED;
    }
    const std::size_t size = gyre::test::size_of(from);
    if (size > buffer_size(SO_SNDBUF)) return -EMSGSIZE;
    if (there->room() < std::max<std::size_t>(size, 1)) {
        if (by_name) return -ENOBUFS;
        there->waiting_.push_back(std::static_pointer_cast<virtual_datagram>(shared_from_this()));
        return -EAGAIN;
    }
    datagram it{local_, {}};
    for (const auto& [data, part] : from) it.bytes.insert(it.bytes.end(), data, data + part);
    there->held_ += size;
    there->queue_.push_back(std::move(it));
    there->changed();
    return static_cast<int>(size);
}

int virtual_datagram::find_here(const endpoint& to, std::shared_ptr<virtual_datagram>& found) {
    if (to.address_family() != AF_UNIX) return -EINVAL;
    std::shared_ptr<virtual_socket> named;
    if (const int failed = host().find_name(to, named); failed != 0) return failed;
    if (named->type() != type()) return -EPROTOTYPE;
    found = std::static_pointer_cast<virtual_datagram>(named);
    return 0;
}

// What is queued counts as one byte at least, so that empty ones end, too.
std::size_t virtual_datagram::room() const noexcept {
    const std::size_t most = buffer_size(SO_RCVBUF);
    return most - std::min(most, held_ + queue_.size());
}

int virtual_datagram::send_to_all(const endpoint& group, const datagram& what) {
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
    if (is_for_all(to.address())) {
        for (virtual_datagram* const each : found) each->deliver(it);
        return;
    }
    if (!found.empty()) return there.choose(std::move(found))->deliver(it);
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
    const auto there = peer_here_.lock();
    std::uint32_t events = there == nullptr || there->room() > 0 ? POLLOUT : 0;
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
    if (family() == AF_UNIX) host().leave_name(*this);
    if (family() != AF_UNIX) host().leave_port(*this);
    for (const auto& each : waiting_) {
        if (const auto sender = each.lock()) sender->changed();
    }
    queue_.clear();
    held_ = 0;
}

}  // namespace gyre::test
