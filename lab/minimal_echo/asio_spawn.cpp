// SPDX-License-Identifier: BSL-1.0
//
// The least a Boost.Asio echo server can be whose coroutines have stacks of their own (Boost.Context).
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/spawn.hpp>
#include <boost/asio/write.hpp>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <utility>

namespace asio = boost::asio;
using asio::ip::tcp;

void echo(tcp::socket& peer, const asio::yield_context& here) {
    try {
        char space[4096];
        for (;;) {
            const std::size_t size = peer.async_read_some(asio::buffer(space), here);
            asio::async_write(peer, asio::buffer(space, size), here);
        }
    } catch (const std::exception&) {
    }
}

void accept_all(tcp::acceptor& acceptor, const asio::yield_context& here) {
    for (;;) {
        tcp::socket peer = acceptor.async_accept(here);
        peer.set_option(tcp::no_delay{true});
        auto session = [peer = std::move(peer)](const asio::yield_context& there) mutable {
            echo(peer, there);
        };
        asio::spawn(acceptor.get_executor(), std::move(session), asio::detached);
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
    const auto accepting = [&](const asio::yield_context& here) { accept_all(acceptor, here); };
    asio::spawn(loop, accepting, asio::detached);
    loop.run();
}
