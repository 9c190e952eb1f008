// SPDX-License-Identifier: BSL-1.0
//
// Connects by name, says to which address and how long it took, and tries again if need be.
//
//     happy_eyeballs example.org 443 [TRIES]
//
// The addresses of the name are tried as RFC 8305 recommends, IPv6 and IPv4 in turn. When all have failed it
// waits, each time about twice as long, and begins with the name again.
#include <gyre/gyre.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

// snippet: connect
gyre::task<gyre::io_result<>> connect(std::string host, std::string service, int tries) {
    gyre::backoff retry;
    for (;;) {
        const auto begun = std::chrono::steady_clock::now();
        auto connected = co_await gyre::connect_to(host, service);
        const auto took = std::chrono::steady_clock::now() - begun;
        if (connected.ok()) {
            const auto peer = connected.value().remote_endpoint();
            const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(took).count();
            std::printf("connected to %s in %d ms\n", peer.value().to_string().c_str(),
                        static_cast<int>(ms));
            co_return gyre::io_result<>{};
        }
        std::fprintf(stderr, "%s: %s\n", host.c_str(), connected.error().message().c_str());
        if (--tries <= 0) co_return connected.error();

        auto waited = co_await retry.pause();
        if (!waited.ok()) co_return waited;
    }
}
// end of snippet

int main(int count, char** arguments) {
    if (count < 3) {
        std::fprintf(stderr, "usage: happy_eyeballs HOST SERVICE [TRIES]\n");
        return 2;
    }
    const int tries = count > 3 ? std::atoi(arguments[3]) : 1;
    return gyre::run_until_signal(connect(arguments[1], arguments[2], tries));
}
