// SPDX-License-Identifier: BSL-1.0
//
// The least a Boost.Asio coroutine echo server can be; compiled, not run, by lab/compile_time.py.
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

asio::awaitable<void> echo_server(tcp::endpoint local) {
    const auto executor = co_await asio::this_coro::executor;
    tcp::acceptor acceptor{executor, local};
    for (;;) {
        tcp::socket peer = co_await acceptor.async_accept(asio::use_awaitable);
        asio::co_spawn(executor, echo(std::move(peer)), asio::detached);
    }
}

int main() {
    asio::io_context loop{1};
    asio::signal_set signals{loop, SIGINT, SIGTERM};
    signals.async_wait([&](auto, auto) { loop.stop(); });
    asio::co_spawn(loop, echo_server({asio::ip::address_v4::loopback(), 7000}), asio::detached);
    loop.run();
}
