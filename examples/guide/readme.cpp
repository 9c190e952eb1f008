// SPDX-License-Identifier: BSL-1.0
//
// The code of README.md. It is built and not run: its port is fixed.
//
// examples/echo_server.cpp is the server with an end in good order.
// snippet: echo
#include <gyre/gyre.hpp>

#include <array>

using namespace std::chrono_literals;

gyre::task<> echo(gyre::tcp_socket peer) {
    std::array<std::byte, 4096> space;
    for (;;) {
        auto [error, size] = co_await peer.read_some(space);
        if (error) break;  // The peer left, or we are stopping.

        auto [failure, sent] = co_await gyre::write_all(peer, std::span(space).first(size));
        if (failure) co_return;
    }
    static_cast<void>(co_await peer.close_gracefully(2s));
}

gyre::task<gyre::io_result<>> echo_server(gyre::endpoint local) {
    auto listening = co_await gyre::tcp_acceptor::listen(local);
    if (!listening.ok()) co_return listening.error();

    auto served = co_await gyre::serve(listening.take(), echo);  // Accepts, bounds, drains, joins.
    co_return served;
}

int main() { return gyre::run_until_signal(echo_server({gyre::ipv4::loopback(), 7000})); }
// end of snippet

// snippet: pool
gyre::task<gyre::io_result<>> echo_on_all_processors(gyre::endpoint local) {
    gyre::io_pool pool;  // A loop and a thread for each processor.
    auto listening = gyre::listen_on_each(pool, local);
    if (!listening.ok()) co_return listening.error();

    auto served = co_await gyre::serve(pool, listening.take(), echo);
    co_return served;
}
// end of snippet
