// SPDX-License-Identifier: BSL-1.0
//
// The README's program, for the suite `cost`: GYRE_BACKEND chooses io_uring or epoll.
//
// `minimal_echo PORT`, as all programs here: README.md of the lab says what they do.
#include <gyre/gyre.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>

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

    auto acceptor = listening.take();
    std::printf("%d\n", acceptor.local_endpoint().value().port());
    std::fflush(stdout);
    auto served = co_await gyre::serve(std::move(acceptor), echo);  // TCP_NODELAY is its default.
    co_return served;
}

int main(int, char** arguments) {
    const auto port = static_cast<std::uint16_t>(std::atoi(arguments[1]));
    return gyre::run_until_signal(echo_server({gyre::ipv4::loopback(), port}));
}
