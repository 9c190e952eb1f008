// SPDX-License-Identifier: BSL-1.0
//
// A datagram socket: messages that arrive whole, in whatever order, or not.
#pragma once

#include <test/virtual_socket.hpp>

#include <cstddef>
#include <deque>
#include <vector>

namespace gyre::test {

class virtual_datagram final : public virtual_socket {
public:
    using virtual_socket::virtual_socket;

    /// Fixes the peer.
    [[nodiscard]] int connect(const endpoint& to, bool begun) override;
    [[nodiscard]] received receive(memory_parts into) override;
    [[nodiscard]] int send(memory_parts from, const endpoint& to) override;
    [[nodiscard]] std::uint32_t ready() const noexcept override;
    [[nodiscard]] int join(const endpoint& group) override;
    [[nodiscard]] int leave(const endpoint& group) override;
    [[nodiscard]] std::size_t bytes_held() const noexcept override { return held_; }
    void close() override;

private:
    struct datagram {
        endpoint from;
        std::vector<std::byte> bytes;
    };

    [[nodiscard]] int send_to_group(const endpoint& group, const datagram& what);
    [[nodiscard]] bool wants(const endpoint& to, const endpoint& from) const;
    void deliver(const datagram& it);
    static void deliver_on(virtual_host& there, const endpoint& to, const datagram& it,
                           const std::weak_ptr<virtual_socket>& sender);

    std::deque<datagram> queue_;
    std::size_t held_ = 0;
    std::vector<ip_address> groups_;
};

}  // namespace gyre::test
