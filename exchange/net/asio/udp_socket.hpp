// SPDX-License-Identifier: BSL-1.0
//
// Datagrams of the seam on Boost.Asio.
//
// executor_traits.hpp has the contract; gyre's udp_socket is the model. Asio joins IPv4 groups by address
// only, so that is asked of the kernel its own way; datagram_operations.hpp has what waits.
#pragma once

#include <exchange/net/asio/datagram_batch.hpp>
#include <exchange/net/asio/datagram_operations.hpp>
#include <exchange/net/asio/io_result.hpp>
#include <exchange/net/asio/loop.hpp>
#include <exchange/net/asio/socket.hpp>

#include <gyre/io/udp_socket.hpp>

#include <cstddef>
#include <string_view>
#include <utility>

namespace exchange {

class asio_udp_socket : public asio_socket<asio_datagrams> {
public:
    static constexpr std::size_t buffers_max = gyre::udp_socket::buffers_max;

    asio_udp_socket() noexcept = default;

    [[nodiscard]] static gyre::io_result<asio_udp_socket> bind(asio_loop& on,
                                                               const gyre::endpoint& local,
                                                               const gyre::udp_options& options);

    gyre::io_result<> connect(const gyre::endpoint& peer);

    [[nodiscard]] auto receive(gyre::mutable_buffer into) {
        return asio_operation<asio_receive>{asio_receive{open(), into}};
    }
    [[nodiscard]] auto receive_from(gyre::mutable_buffer into) {
        return asio_operation<asio_receive_from>{asio_receive_from{open(), into}};
    }
    [[nodiscard]] auto send_to(gyre::const_buffers parts, const gyre::endpoint& peer) {
        return asio_operation<asio_send>{asio_send{open(), parts, peer}};
    }
    [[nodiscard]] auto send(gyre::const_buffers parts) { return send_to(parts, gyre::endpoint{}); }
    [[nodiscard]] auto send(asio_datagram_batch& batch) {
        return asio_operation<asio_send_batch>{asio_send_batch{open(), batch}};
    }

    gyre::io_result<> join(const gyre::endpoint& group, gyre::network_interface through = {});
    gyre::io_result<> leave(const gyre::endpoint& group, gyre::network_interface through = {});
    gyre::io_result<> set_multicast_interface(gyre::network_interface through);
    gyre::io_result<> set_multicast_loopback(bool on);
    gyre::io_result<> set_multicast_hops(int hops);
    [[nodiscard]] gyre::io_result<gyre::network_interface> find_interface(
        std::string_view name) const;

private:
    using endpoint_type = asio_datagrams::endpoint_type;

    asio_udp_socket(asio_datagrams open, gyre::endpoint::family family) noexcept
        : asio_socket{std::move(open)}, family_{family} {}

    [[nodiscard]] gyre::io_result<> change_membership(int name, const gyre::endpoint& group,
                                                      gyre::network_interface through);
    [[nodiscard]] gyre::io_result<> set_number(int v4_name, int v6_name, int value);
    [[nodiscard]] int level() const noexcept;

    gyre::endpoint::family family_ = gyre::endpoint::family::none;
};

}  // namespace exchange
