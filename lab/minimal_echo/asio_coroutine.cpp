// SPDX-License-Identifier: BSL-1.0
//
// The least a Boost.Asio echo server with coroutines can be, with the headers that it needs and no others.
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <utility>

namespace asio = boost::asio;
using asio::ip::tcp;

asio::awaitable<void> echo(tcp::socket peer) {
    try {
        char space[4096];
        for (;;) {
            const std::size_t size =
                co_await peer.async_read_some(asio::buffer(space), asio::use_awaitable);
            co_await asio::async_write(peer, asio::buffer(space, size), asio::use_awaitable);
        }
    } catch (const std::exception&) {
    }
}

asio::awaitable<void> accept_all(tcp::acceptor acceptor) {
    for (;;) {
        tcp::socket peer = co_await acceptor.async_accept(asio::use_awaitable);
        peer.set_option(tcp::no_delay{true});
        asio::co_spawn(acceptor.get_executor(), echo(std::move(peer)), asio::detached);
    }
}

int main(int, char** arguments) {
    const auto port = static_cast<asio::ip::port_type>(std::atoi(arguments[1]));
    asio::io_context loop{1};
    asio::signal_set signals{loop, SIGINT, SIGTERM};
    signals.async_wait([&](auto, auto) { loop.stop(); });
    tcp::acceptor acceptor{loop, {asio::ip::address_v4::loopback(), port}};
    std::printf("%d\n", acceptor.local_endpoint().port());
    std::fflush(stdout);
    asio::co_spawn(loop, accept_all(std::move(acceptor)), asio::detached);
    loop.run();
}
