// SPDX-License-Identifier: BSL-1.0
//
// The table of peers: see include/gyre/io/peer_limits.hpp.
#include <gyre/io/peer_limits.hpp>

#include <gyre/base/check.hpp>

#include <mutex>

namespace gyre {
namespace {

bool has_address(const endpoint& it) noexcept {
    return it.kind() == endpoint::family::v4 || it.kind() == endpoint::family::v6;
}

std::optional<token_rate> rate_of(const std::optional<rate_limit>& limit) noexcept {
    if (!limit) return std::nullopt;
    return token_rate{*limit};
}

}  // namespace

peer_limits::peer_limits(const peer_limit_options& options)
    : options_{options}, rate_{rate_of(options.accepts)} {
    expects(options.v4_bits <= 32 && options.v6_bits <= 128, "no more bits than an address has");
    expects(options.peers_max > 0, "a table of no peers would refuse all of them");
}

peer_limits::~peer_limits() {
    while (!idle_.empty()) idle_.pop_front();
}

ip_network peer_limits::network_of(const ip_address& it) const noexcept {
    if (it.is_v6() && it.v6().is_v4_mapped()) return network_of(it.v6().unmapped());
    return ip_network::around(it, it.is_v6() ? options_.v6_bits : options_.v4_bits).value();
}

// Nothing is lost if it is forgotten.
bool peer_limits::is_as_new(entry& it, time_point now) const noexcept {
    if (!rate_) return true;
    it.bucket->refill(*rate_, now);
    return it.bucket->full(*rate_);
}

void peer_limits::forget_oldest() noexcept {
    entry& oldest = idle_.pop_front();
    entries_.erase(*oldest.of);
}

// Null if there is no room for it.
peer_limits::entry* peer_limits::remembered(const key& peer, time_point now) {
    const auto known = entries_.find(peer);
    if (known != entries_.end()) return &known->second;
    // Two for each that comes, so that what a flood leaves behind goes by itself.
    for (int each = 0; each < 2 && !idle_.empty() && is_as_new(idle_.front(), now); ++each) {
        forget_oldest();
    }
    if (entries_.size() >= options_.peers_max) {
        if (idle_.empty()) return nullptr;
        forget_oldest();
    }
    const auto made = entries_.try_emplace(peer, rate_, now).first;
    made->second.of = &made->first;
    idle_.push_back(made->second);
    return &made->second;
}

peer_verdict peer_limits::admit(const endpoint& peer, time_point now) {
    if (!has_address(peer)) return peer_verdict::admitted;
    return admit_key(network_of(peer.address()), now);
}

peer_verdict peer_limits::admit_key(const key& peer, time_point now) {
    const std::lock_guard hold{lock_};
    entry* const it = remembered(peer, now);
    if (it == nullptr) return peer_verdict::too_often;
    if (options_.connections_max > 0 && it->connections >= options_.connections_max) {
        return peer_verdict::too_many;
    }
    if (it->connections == 0) it->unlink();
    if (rate_ && !it->bucket->take(*rate_, now, 1)) {
        if (it->connections == 0) idle_.push_back(*it);
        return peer_verdict::too_often;
    }
    ++it->connections;
    return peer_verdict::admitted;
}

void peer_limits::left(const endpoint& peer, time_point now) noexcept {
    if (has_address(peer)) key_left(network_of(peer.address()), now);
}

void peer_limits::key_left(const key& peer, time_point now) noexcept {
    std::unique_lock hold{lock_};
    const auto known = entries_.find(peer);
    const bool admitted = known != entries_.end() && known->second.connections > 0;
    if (!admitted) hold.unlock();  // A check_hook may be the program's.
    expects(admitted, "a connection that ends was admitted");
    entry& it = known->second;
    if (--it.connections > 0) return;
    if (is_as_new(it, now)) {
        entries_.erase(known);
    } else {
        idle_.push_back(it);
    }
}

std::size_t peer_limits::peers() const noexcept {
    const std::lock_guard hold{lock_};
    return entries_.size();
}

}  // namespace gyre
