// SPDX-License-Identifier: BSL-1.0
//
// What both of Asio's contenders agree on: how its fastest configuration is spelled.
//
// The context gets the concurrency hint that switches locking off wherever one thread does all the
// work. Executors and sockets have their concrete types, so that nothing is type-erased. See
// https://www.boost.org/doc/libs/1_81_0/doc/html/boost_asio/overview/core/concurrency_hint.html
// https://www.boost.org/doc/libs/1_81_0/doc/html/boost_asio/reference/basic_stream_socket.html
#pragma once

#include <lab/churn_load.hpp>
#include <lab/load.hpp>
#include <lab/scenario.hpp>

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/version.hpp>

#include <netinet/in.h>

#include <chrono>
#include <cstddef>
#include <deque>
#include <span>
#include <string>
#include <utility>

namespace asio_lab {

namespace asio = boost::asio;

using executor = asio::io_context::executor_type;
using stream = asio::basic_stream_socket<asio::generic::stream_protocol, executor>;
using timer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                         asio::wait_traits<std::chrono::steady_clock>, executor>;

inline constexpr int single_threaded = BOOST_ASIO_CONCURRENCY_HINT_UNSAFE;
inline constexpr int one_thread_runs = 1;  // Others may still post.

/// As in "1.81".
[[nodiscard]] inline std::string version() {
    return std::to_string(BOOST_VERSION / 100'000) + "." +
           std::to_string(BOOST_VERSION / 100 % 1'000);
}

/// The hint for an `io_context` that is to run `work`.
[[nodiscard]] constexpr int hint_for(const lab::dispatch_case& work) noexcept {
    const bool foreign = work.order == lab::dispatch_order::from_another_thread;
    return foreign ? one_thread_runs : single_threaded;
}

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

/// Takes charge of a listening TCP socket.
[[nodiscard]] inline acceptor adopt_listener(asio::io_context& context, lab::descriptor listener) {
    const asio::generic::stream_protocol tcp{AF_INET, IPPROTO_TCP};
    return acceptor{context.get_executor(), tcp, listener.release()};
}

/// A listener of `churn`, and where clients find it.
struct port {
    acceptor listening;
    stream::endpoint_type address;
};

[[nodiscard]] inline std::deque<port> listen(asio::io_context& context, std::size_t count) {
    std::deque<port> all;
    for (lab::listener& each : lab::listen_on_loopback(count)) {
        const asio::ip::tcp::endpoint address{asio::ip::address_v4::loopback(), each.port()};
        all.push_back({adopt_listener(context, std::move(each.socket)), address});
    }
    return all;
}

inline void set_no_delay(stream& socket) { socket.set_option(asio::ip::tcp::no_delay{true}); }

/// A new TCP socket for a client of `churn`.
inline void open(stream& socket) {
    socket.open(asio::generic::stream_protocol{AF_INET, IPPROTO_TCP});
    set_no_delay(socket);
    lab::set_reset_on_close(socket.native_handle());
}

[[nodiscard]] inline asio::const_buffer buffer_of(std::span<const std::byte> bytes) noexcept {
    return {bytes.data(), bytes.size()};
}

[[nodiscard]] inline asio::mutable_buffer buffer_of(std::span<std::byte> space) noexcept {
    return {space.data(), space.size()};
}

}  // namespace asio_lab
