// SPDX-License-Identifier: BSL-1.0
//
// The same for servers whose connections are silent most of the time: a read borrows a buffer from the loop
// when something has arrived, so that who is silent holds none. Otherwise gyre.cpp.
#include <gyre/gyre.hpp>

#include <cstdio>
#include <cstdlib>

using namespace std::chrono_literals;

gyre::task<> echo(gyre::tcp_socket peer) {
    for (;;) {
        auto arrived = co_await peer.read();
        if (!arrived.ok()) break;

        const gyre::buffer_lease message = arrived.take();
        auto [failure, sent] = co_await gyre::write_all(peer, message.bytes());
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
    auto served = co_await gyre::serve(std::move(acceptor), echo);
    co_return served;
}

int main(int, char** arguments) {
    const auto port = static_cast<std::uint16_t>(std::atoi(arguments[1]));
    return gyre::run_until_signal(echo_server({gyre::ipv4::loopback(), port}));
}
