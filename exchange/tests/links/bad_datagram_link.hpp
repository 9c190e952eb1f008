// SPDX-License-Identifier: BSL-1.0
//
// A relay between a feed and one of its listeners, for what the feed sends, for requests, and for answers.
//
// The listener believes that it hears the feed and asks it; every datagram goes through a
// bad_datagram_path.hpp. bad_network.hpp receives the feed and hands it to all links.
#pragma once

#include <exchange/tests/links/bad_datagram_path.hpp>

#include <gyre/coro/task.hpp>
#include <gyre/io/udp_socket.hpp>
#include <gyre/runtime/io_context.hpp>

#include <array>

namespace exchange::testing {

/// Threads:  That of its loop, once that runs.
class bad_datagram_link {
public:
    bad_datagram_link(gyre::io_context& on, std::uint64_t seed, const datagram_faults& faults)
        : on_{on}, feed_{seed, faults}, requests_{seed + 1, faults}, answers_{seed + 2, faults} {}
    bad_datagram_link(const bad_datagram_link&) = delete;
    bad_datagram_link& operator=(const bad_datagram_link&) = delete;

    /// Where the listener asks; `begin` follows.
    [[nodiscard]] gyre::io_result<gyre::endpoint> open(const gyre::endpoint& at);

    /// @param  listener  Where it hears the feed.
    /// @param  requests  Whom it means to ask.
    void begin(const gyre::endpoint& listener, const gyre::endpoint& requests);

    /// A datagram of the feed.
    void take(std::span<const std::byte> datagram) { feed_.take(datagram, on_.now()); }

    void calm() noexcept;

    /// Ends everything. The loop runs out of work, and then this may be destroyed.
    void stop() noexcept;

    [[nodiscard]] datagram_fault_counts counts() const noexcept;

private:
    gyre::task<> hear(gyre::udp_socket& from, bad_datagram_path& path, gyre::endpoint& sender);
    gyre::task<> send_what_is_due();
    gyre::task<> send(bad_datagram_path& path, gyre::udp_socket& through, const gyre::endpoint& to);

    gyre::io_context& on_;
    bad_datagram_path feed_;
    bad_datagram_path requests_;
    bad_datagram_path answers_;
    gyre::udp_socket near_;  // Towards the listener.
    gyre::udp_socket far_;   // Towards the exchange.
    gyre::endpoint listener_;
    gyre::endpoint asker_;  // Where the listener asks from, once it has.
    gyre::endpoint exchange_;
    gyre::endpoint answerer_;
    std::array<std::byte, 2048> request_;
    std::array<std::byte, 2048> answer_;
};

}  // namespace exchange::testing
