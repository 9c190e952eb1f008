// SPDX-License-Identifier: BSL-1.0
//
// A datagram socket: messages that arrive whole, in whatever order, or not.
//
// Those of Unix domain arrive at once and in their order; a peer that has no room makes its sender wait.
#pragma once

#include <test/virtual_socket.hpp>

#include <cstddef>
#include <deque>
#include <vector>

namespace gyre::test {

class virtual_datagram final : public virtual_socket {
public:
    using virtual_socket::virtual_socket;

    /// Makes two new ones, on one machine, each other's peer, as socketpair(2) does.
    static void join(const std::shared_ptr<virtual_datagram>& one,
                     const std::shared_ptr<virtual_datagram>& other);

    /// Fixes the peer.
    [[nodiscard]] int connect(const endpoint& to, bool begun) override;
    [[nodiscard]] received receive(memory_parts into, reading how) override;
    [[nodiscard]] int send(memory_parts from, const endpoint& to) override;
    [[nodiscard]] std::uint32_t ready() const noexcept override;
    [[nodiscard]] int join(const endpoint& group) override;
    [[nodiscard]] int leave(const endpoint& group) override;
    [[nodiscard]] std::size_t bytes_held() const noexcept override { return held_; }
    [[nodiscard]] bool connected() const noexcept override;
    void close() override;

private:
    struct datagram {
        endpoint from;
        std::vector<std::byte> bytes;
    };

    [[nodiscard]] int send_to_all(const endpoint& group, const datagram& what);
    [[nodiscard]] int send_here(memory_parts from, const endpoint& to);
    [[nodiscard]] int find_here(const endpoint& to, std::shared_ptr<virtual_datagram>& found);
    [[nodiscard]] std::size_t room() const noexcept;
    [[nodiscard]] bool wants(const endpoint& to, const endpoint& from) const;
    void deliver(const datagram& it);
    static void deliver_on(virtual_host& there, const endpoint& to, const datagram& it,
                           const std::weak_ptr<virtual_socket>& sender);

    std::deque<datagram> queue_;
    std::size_t held_ = 0;
    std::vector<ip_address> groups_;

    // Of Unix domain.
    std::weak_ptr<virtual_datagram> peer_here_;
    std::vector<std::weak_ptr<virtual_datagram>> waiting_;  // For room in our queue.
};

}  // namespace gyre::test
