// SPDX-License-Identifier: BSL-1.0
//
// The small server that each way of installing has to build: sends back what it is sent.
#include <gyre/gyre.hpp>

#include <array>
#include <cstdio>
#include <span>
#include <utility>

gyre::task<> echo(gyre::tcp_socket peer) {
    std::array<std::byte, 4096> space;
    for (;;) {
        const auto [error, size] = co_await peer.read_some(space);
        if (error) co_return;
        const auto [failure, _] = co_await gyre::write_all(peer, std::span(space).first(size));
        if (failure) co_return;
    }
}

gyre::task<gyre::io_result<>> server() {
    auto listening = co_await gyre::tcp_acceptor::listen(gyre::endpoint{gyre::ipv4::loopback(), 0});
    if (!listening.ok()) co_return listening.error();
    auto acceptor = listening.take();
    const auto bound = acceptor.local_endpoint();
    if (!bound.ok()) co_return bound.error();
    std::printf("listening on %s\n", bound.value().to_string().c_str());
    std::fflush(stdout);
    const auto ended = co_await gyre::serve(std::move(acceptor), echo);
    co_return ended;
}

int main() { return gyre::run_until_signal(server()); }
