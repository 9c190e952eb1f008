// SPDX-License-Identifier: BSL-1.0
//
// A UDP server that sends each datagram back to its sender, until SIGTERM.
//
//     udp_echo [ADDRESS:PORT]
//
// docs/guide/04_udp.md explains it. It keeps nothing of its clients, so it may be started anew at any time.
#include <gyre/gyre.hpp>

#include <array>
#include <cstdio>

// snippet: echo
gyre::task<gyre::io_result<>> udp_echo(gyre::endpoint local) {
    auto bound = co_await gyre::udp_socket::bind(local);
    if (!bound.ok()) co_return bound.error();

    auto socket = bound.take();
    const auto address = socket.local_endpoint();
    if (!address.ok()) co_return address.error();
    std::printf("listening on %s\n", address.value().to_string().c_str());
    std::fflush(stdout);

    std::array<std::byte, 2048> space;
    for (;;) {
        const auto [error, datagram, sender] = co_await gyre::idle(socket.receive_from(space));
        if (error) co_return error;
        if (datagram.truncated) continue;  // Half a request is none.

        // An answer that could not be sent is one that was lost: the client asks again.
        const auto answer = std::span(space).first(datagram.size);
        static_cast<void>(co_await socket.send_to(answer, sender));
    }
}
// end of snippet

int main(int count, char** arguments) {
    const auto local = gyre::endpoint::parse(count > 1 ? arguments[1] : "127.0.0.1:7000");
    if (!local.ok()) {
        std::fprintf(stderr, "usage: udp_echo [ADDRESS:PORT]\n");
        return 2;
    }
    return gyre::run_until_signal(udp_echo(local.value()));
}
