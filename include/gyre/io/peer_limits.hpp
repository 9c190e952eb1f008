// SPDX-License-Identifier: BSL-1.0
//
// How much of a server one peer may have: connections at a time, and new ones in a time.
//
// A bound on all connections lets one address take them all. Peers are told apart by their address, of IPv6
// by its first 64 bits, since a host has all of such a network, or by a number of the program's own. What is
// kept of them is bounded, too, however many addresses a hostile peer has. serve.hpp asks it of each
// connection; servers that accept by themselves, and sessions that learn who their peer is, can ask it, too.
#pragma once

#include <gyre/base/intrusive.hpp>
#include <gyre/base/spin_lock.hpp>
#include <gyre/base/time.hpp>
#include <gyre/io/endpoint.hpp>
#include <gyre/io/ip_network.hpp>
#include <gyre/sync/token_bucket.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <variant>

namespace gyre {

/// How much of a server one peer may have, and which addresses count as one peer.
struct peer_limit_options {
    peer_limit_options() noexcept = default;

    /// Of one peer at the same time; 0 sets no bound.
    std::uint32_t connections_max = 0;

    /// New connections of one peer, a token each; none sets no bound.
    std::optional<rate_limit> accepts;

    /// How many of the first bits of an address tell peers apart: at most 32, and 128. An IPv4-mapped address
    /// counts as the IPv4 address in it.
    unsigned v4_bits = 32;
    unsigned v6_bits = 64;

    /// Peers that are remembered, at about 200 bytes each; at least 1. Of those without a connection the one
    /// that has come last the longest time ago is forgotten first. Set it to as many as there may be
    /// connections at least: a peer for which there is no room is refused.
    std::size_t peers_max = 20'000;
};

/// Why a connection is refused; or that it is not.
enum class peer_verdict : std::uint8_t {
    admitted,
    too_many,  ///< The peer has as many connections as it may.
    too_often  ///< It has made too many in a short time, or there are too many peers to remember.
};

/// What is known of peers, and asked of it. Servers on several loops and listeners may share one.
///
/// Threads:  everything here is for any thread.
class peer_limits {
public:
    explicit peer_limits(const peer_limit_options& options);
    peer_limits(const peer_limits&) = delete;
    peer_limits& operator=(const peer_limits&) = delete;
    ~peer_limits();

    /// Whether a connection of `peer` is admitted. If so, it counts until `left` is told of its end. Peers
    /// without an IP address are admitted always.
    ///
    /// Cost:  a search in a tree; an allocation for a peer that is not remembered.
    [[nodiscard]] peer_verdict admit(const endpoint& peer, time_point now);

    /// The same by a number that tells peers apart: a user of a Unix-domain socket, an account.
    [[nodiscard]] peer_verdict admit(std::uint64_t peer, time_point now) {
        return admit_key(peer, now);
    }

    /// A connection of `peer` that was admitted has ended.
    void left(const endpoint& peer, time_point now) noexcept;
    void left(std::uint64_t peer, time_point now) noexcept { key_left(peer, now); }

    /// Peers that are remembered now.
    [[nodiscard]] std::size_t peers() const noexcept;

private:
    using key = std::variant<ip_network, std::uint64_t>;

    struct entry : list_link<> {
        explicit entry(const std::optional<token_rate>& rate, time_point now) noexcept {
            if (rate) bucket.emplace(*rate, now);
        }
        std::optional<token_bucket> bucket;
        std::uint32_t connections = 0;  // Invariant: linked if and only if 0.
        const key* of = nullptr;
    };

    [[nodiscard]] peer_verdict admit_key(const key& peer, time_point now);
    void key_left(const key& peer, time_point now) noexcept;
    [[nodiscard]] ip_network network_of(const ip_address& it) const noexcept;
    [[nodiscard]] bool is_as_new(entry& it, time_point now) const noexcept;
    [[nodiscard]] entry* remembered(const key& peer, time_point now);
    void forget_oldest() noexcept;

    const peer_limit_options options_;
    const std::optional<token_rate> rate_;
    std::map<key, entry> entries_;  // A tree: no peer can choose addresses that make it slow.
    list<entry> idle_;              // Without a connection; who came last stands last.
    mutable spin_lock lock_;        // Of both.
};

}  // namespace gyre
