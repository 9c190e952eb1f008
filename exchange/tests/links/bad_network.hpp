// SPDX-License-Identifier: BSL-1.0
//
// Everything between the exchange and the world, on a loop and a thread of its own: one link for clients, and
// one for each listener.
#pragma once

#include <exchange/tests/links/bad_datagram_link.hpp>
#include <exchange/tests/links/bad_stream_link.hpp>

#include <deque>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

namespace exchange::testing {

/// Where the exchange really is.
struct exchange_endpoints {
    gyre::endpoint order_entry;
    gyre::endpoint feed_requests;
};

/// Threads:  One owner; `calm` and `stop` reach over to the network's own thread.
class bad_network {
public:
    /// @param  listeners  The faults of each listener's link.
    bad_network(std::uint64_t seed, const stream_faults& clients,
                std::span<const datagram_faults> listeners);
    bad_network(const bad_network&) = delete;
    bad_network& operator=(const bad_network&) = delete;
    ~bad_network() { stop(); }

    /// Opens all sockets, at free ports of `host`. After that, these say where they are.
    /// @param  group      Where the feed is to be heard; null: at `host`.
    /// @param  interface  Through which that group is joined.
    [[nodiscard]] gyre::io_result<> open(const gyre::ipv4& host, const gyre::endpoint& group = {},
                                         std::string_view interface = {});
    [[nodiscard]] const gyre::endpoint& order_entry() const noexcept { return order_entry_; }
    [[nodiscard]] const gyre::endpoint& feed() const noexcept { return feed_at_; }
    [[nodiscard]] const gyre::endpoint& requests_of(std::size_t listener) const noexcept {
        return requests_[listener];
    }

    /// Begins to carry.
    /// @param  listeners  Where they hear the feed; as many as there are links.
    void begin(const exchange_endpoints& exchange, std::span<const gyre::endpoint> listeners);

    /// No faults from here on.
    void calm();

    /// Ends it, and its thread. Only now the counts may be asked for.
    void stop();

    [[nodiscard]] const stream_fault_counts& clients() const noexcept { return clients_.counts(); }
    [[nodiscard]] datagram_fault_counts listeners() const noexcept;

private:
    [[nodiscard]] gyre::io_result<> open_feed(const gyre::endpoint& at, std::string_view interface);
    gyre::task<> hear_feed();

    gyre::io_context on_;
    bad_stream_link clients_;
    std::deque<bad_datagram_link> listeners_;
    gyre::udp_socket feed_;
    gyre::endpoint order_entry_;
    gyre::endpoint feed_at_;
    std::vector<gyre::endpoint> requests_;
    std::array<std::byte, 2048> datagram_;
    std::thread thread_;
};

}  // namespace exchange::testing
