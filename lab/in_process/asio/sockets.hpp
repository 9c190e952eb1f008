// SPDX-License-Identifier: BSL-1.0
//
// What both of Asio's contenders agree on: how its fastest configuration is spelled.
//
// The context gets the concurrency hint that switches locking off wherever one thread does all the
// work. Executors and sockets have their concrete types, so that nothing is type-erased. See
// https://www.boost.org/doc/libs/1_81_0/doc/html/boost_asio/overview/core/concurrency_hint.html
// https://www.boost.org/doc/libs/1_81_0/doc/html/boost_asio/reference/basic_stream_socket.html
#pragma once

#include <lab/kit/sockets.hpp>

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <netinet/in.h>

#include <chrono>
#include <cstddef>
#include <deque>
#include <span>
#include <utility>

namespace asio_lab {

namespace asio = boost::asio;

using error_code = boost::system::error_code;
using executor = asio::io_context::executor_type;
using stream = asio::basic_stream_socket<asio::generic::stream_protocol, executor>;
using timer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                         asio::wait_traits<std::chrono::steady_clock>, executor>;

inline constexpr int single_threaded = BOOST_ASIO_CONCURRENCY_HINT_UNSAFE;
inline constexpr int one_thread_runs = 1;  // Others may still post.

struct stream_pair {
    stream_pair(asio::io_context& context, lab::transport via)
        : stream_pair{context, via, lab::connect_pair(via)} {}

    stream client;
    stream server;

private:
    stream_pair(asio::io_context& context, lab::transport via, lab::connected_pair sockets)
        : client{context, protocol_of(via), sockets.client.release()},
          server{context, protocol_of(via), sockets.server.release()} {}

    static asio::generic::stream_protocol protocol_of(lab::transport via) {
        return via == lab::transport::tcp ? asio::generic::stream_protocol{AF_INET, IPPROTO_TCP}
                                          : asio::generic::stream_protocol{AF_UNIX, 0};
    }
};

using acceptor = asio::basic_socket_acceptor<asio::generic::stream_protocol, executor>;

/// A listener of `churn`, and where clients find it.
struct port {
    acceptor listening;
    stream::endpoint_type address;
};

[[nodiscard]] inline std::deque<port> listen(asio::io_context& context, std::size_t count) {
    std::deque<port> all;
    const asio::generic::stream_protocol tcp{AF_INET, IPPROTO_TCP};
    for (lab::listener& each : lab::listen_on_loopback(count)) {
        const asio::ip::tcp::endpoint address{asio::ip::address_v4::loopback(), each.port()};
        all.push_back({acceptor{context.get_executor(), tcp, each.socket.release()}, address});
    }
    return all;
}

/// A new TCP socket for a client of `churn`.
inline void open(stream& socket) {
    socket.open(asio::generic::stream_protocol{AF_INET, IPPROTO_TCP});
    socket.set_option(asio::ip::tcp::no_delay{true});
    lab::set_reset_on_close(socket.native_handle());
}

[[nodiscard]] inline asio::const_buffer buffer_of(std::span<const std::byte> bytes) noexcept {
    return {bytes.data(), bytes.size()};
}

[[nodiscard]] inline asio::mutable_buffer buffer_of(std::span<std::byte> space) noexcept {
    return {space.data(), space.size()};
}

}  // namespace asio_lab
