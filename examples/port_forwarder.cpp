// SPDX-License-Identifier: BSL-1.0
//
// Accepts connections at one address and carries each to another, both ways.
//
//     port_forwarder 127.0.0.1:8000 192.0.2.7:80
//
// The end of one side is passed on while the other may still answer; a pair that is silent for ten
// minutes is closed. SIGTERM lets connections go on for the grace.
#include <gyre/gyre.hpp>

#include <cstdio>
#include <utility>

using namespace std::chrono_literals;

gyre::task<> forward(gyre::tcp_socket client, gyre::endpoint target) {
    gyre::copy_options options;
    options.silence_max = 10min;
    auto connected = co_await gyre::with_timeout(10s, gyre::tcp_socket::connect(target));
    if (!connected.ok()) co_return;

    auto server = connected.take();
    static_cast<void>(co_await gyre::copy_bidirectional(client, server, options));
}

gyre::task<gyre::io_result<>> port_forwarder(gyre::endpoint local, gyre::endpoint target) {
    auto listening = co_await gyre::tcp_acceptor::listen(local);
    if (!listening.ok()) co_return listening.error();

    auto acceptor = listening.take();
    const auto bound = acceptor.local_endpoint();
    if (!bound.ok()) co_return bound.error();
    std::printf("listening on %s\n", bound.value().to_string().c_str());
    std::fflush(stdout);

    const auto session = [target](gyre::tcp_socket client) {
        return forward(std::move(client), target);
    };
    const auto ended = co_await gyre::serve(std::move(acceptor), session);
    co_return ended;
}

int main(int count, char** arguments) {
    const auto local = gyre::endpoint::parse(count == 3 ? arguments[1] : "");
    const auto target = gyre::endpoint::parse(count == 3 ? arguments[2] : "");
    if (!local.ok() || !target.ok()) {
        std::fprintf(stderr, "usage: port_forwarder ADDRESS:PORT TARGET_ADDRESS:PORT\n");
        return 2;
    }
    gyre::run_options options;
    options.grace = 1s;
    return gyre::run_until_signal(port_forwarder(local.value(), target.value()), options);
}
