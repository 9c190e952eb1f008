// SPDX-License-Identifier: BSL-1.0
//
// How a client that tries again is tested: against a server that is away for an hour, in milliseconds.
//
// The client knows nothing of the test. docs/guide/testing.md explains each part.
#include <gyre/gyre.hpp>
#include <gyre/test/world.hpp>

#include <array>
#include <chrono>
#include <cstdio>
#include <string>
#include <utility>

using namespace std::chrono_literals;

// snippet: client
gyre::task<gyre::io_result<std::string>> ask_once(gyre::endpoint where) {
    auto connected = co_await gyre::tcp_socket::connect(where);
    if (!connected.ok()) co_return connected.error();

    auto server = connected.take();
    std::array<std::byte, 64> space;
    auto [error, size] = co_await gyre::with_timeout(5s, server.read_some(space));
    if (error) co_return error;
    co_return gyre::io_result<std::string>{
        std::string{gyre::text_of(std::span(space).first(size))}};
}

gyre::task<std::string> ask(gyre::endpoint where, int& failures) {
    gyre::backoff retry;
    for (;;) {
        auto answer = co_await ask_once(where);
        if (answer.ok()) co_return answer.take();
        ++failures;
        static_cast<void>(co_await retry.pause());
    }
}
// end of snippet

gyre::task<> greet(gyre::tcp_socket peer) {
    static_cast<void>(co_await gyre::write_all(peer, gyre::bytes_of("hello")));
}

gyre::task<gyre::io_result<>> greeter(gyre::endpoint local) {
    auto listening = co_await gyre::tcp_acceptor::listen(local);
    if (!listening.ok()) co_return listening.error();
    const auto ended = co_await gyre::serve(listening.take(), greet);
    co_return ended;
}

// snippet: test
bool a_server_that_was_away_for_an_hour_is_found() {
    gyre::test::world world;
    gyre::test::machine& server = world.add("server");
    gyre::test::machine& client = world.add("client");
    world.start(server, greeter(server.at(7000)));
    world.partition(client, server);
    const auto repair = [&]() -> gyre::task<> {
        static_cast<void>(co_await gyre::sleep_for(1h));
        world.heal(client, server);
    };
    world.start(server, repair());
    const auto began = world.now();

    int failures = 0;
    auto outcome = world.run(client, ask(server.at(7000), failures));

    if (!outcome.ok()) {
        std::printf("%s", outcome.text().c_str());  // What hangs, and where.
        return false;
    }
    const auto waited = world.now() - began;
    return outcome.take() == "hello" && failures > 10 && waited >= 1h && waited < 1h + 3min;
}
// end of snippet

int main() {
    const auto began = std::chrono::steady_clock::now();
    const bool passed = a_server_that_was_away_for_an_hour_is_found();
    const auto took = std::chrono::steady_clock::now() - began;
    std::printf("%s in %lld ms\n", passed ? "passed" : "failed",
                static_cast<long long>(took / std::chrono::milliseconds{1}));
    return passed ? 0 : 1;
}
