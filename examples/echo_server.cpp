// SPDX-License-Identifier: BSL-1.0
//
// A server that sends back whatever it is sent, and ends well.
//
// SIGTERM ends the intake; connections go on for the grace, then each is closed in order: every byte that
// was read is sent back before the end of the stream, and a second SIGTERM ends all that at once.
// snippet: program
#include <gyre/gyre.hpp>

#include <array>
#include <cstdint>
#include <cstdio>
#include <string_view>

using namespace std::chrono_literals;

constexpr auto farewell = 10s;  // How long a peer may take to read what it still gets.

struct totals {
    std::uint64_t connections = 0;
    std::uint64_t bytes = 0;  // Read, and then sent back.
};

gyre::task<> echo(gyre::tcp_socket peer, totals& served) {
    std::array<std::byte, 4096> space;
    ++served.connections;
    for (;;) {
        auto [error, size] = co_await peer.read_some(space);
        if (error) break;  // The peer has finished, or we are stopping.

        served.bytes += size;
        auto [failure, sent] = co_await gyre::write_all(peer, std::span(space).first(size));
        if (failure == gyre::errc::canceled) {
            // Stopping in the middle: the rest is on its way out before the end of the stream.
            const auto rest = std::span(space).first(size).subspan(sent);
            auto [late_failure, _] = co_await gyre::shielded(gyre::write_all(peer, rest), farewell);
            failure = late_failure;
        }
        if (failure) co_return;
    }
    static_cast<void>(co_await peer.close_gracefully(farewell));
}

gyre::task<gyre::io_result<>> echo_server(gyre::endpoint local) {
    auto listening = co_await gyre::tcp_acceptor::listen(local);
    if (!listening.ok()) co_return listening.error();

    auto acceptor = listening.take();
    const auto bound = acceptor.local_endpoint();
    if (!bound.ok()) co_return bound.error();
    std::printf("listening on %s\n", bound.value().to_string().c_str());
    std::fflush(stdout);

    totals served;
    const auto session = [&served](gyre::tcp_socket peer) { return echo(std::move(peer), served); };
    const auto ended = co_await gyre::serve(std::move(acceptor), session);
    std::printf("echoed %llu bytes on %llu connections\n",
                static_cast<unsigned long long>(served.bytes),
                static_cast<unsigned long long>(served.connections));
    co_return ended;
}

int main(int count, char** arguments) {
    const std::string_view text = count > 1 ? arguments[1] : "127.0.0.1:7000";
    const auto local = gyre::endpoint::parse(text);
    if (!local.ok()) {
        std::fprintf(stderr, "usage: echo_server [ADDRESS:PORT]\n");
        return 2;
    }
    gyre::run_options options;
    options.grace = 1s;
    return gyre::run_until_signal(echo_server(local.value()), options);
}
// end of snippet
