// SPDX-License-Identifier: BSL-1.0
//
// A stranger's test: an hour of a world, in which the other machine is asked what time it is.
#include <gyre/gyre.hpp>
#include <gyre/test/world.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <span>

using namespace std::chrono_literals;

gyre::task<gyre::io_result<>> tell(gyre::endpoint local) {
    auto bound = co_await gyre::udp_socket::bind(local);
    if (!bound.ok()) co_return bound.error();
    auto socket = bound.take();
    std::array<std::byte, 1> question;
    const auto [error, size, asker] = co_await socket.receive_from(question);
    if (error) co_return error;
    co_return co_await socket.send_to(gyre::bytes_of("noon"), asker);
}

gyre::task<gyre::io_result<>> ask(gyre::endpoint clock) {
    static_cast<void>(co_await gyre::sleep_for(1h));
    auto bound = co_await gyre::udp_socket::bind({gyre::ipv4::any(), 0});
    if (!bound.ok()) co_return bound.error();
    auto socket = bound.take();
    const auto sent = co_await socket.send_to(gyre::bytes_of("?"), clock);
    if (!sent.ok()) co_return sent;
    std::array<std::byte, 8> space;
    const auto [failure, answer] = co_await socket.receive(space);
    const auto text = gyre::text_of(gyre::const_buffer{space}.first(answer.size));
    if (!failure) std::printf("%.*s\n", static_cast<int>(text.size()), text.data());
    co_return failure;
}

int main() {
    gyre::test::world world;
    gyre::test::machine& clock = world.add("clock");
    gyre::test::machine& asker = world.add("asker");
    world.start(clock, tell(clock.at(123)));
    const auto outcome = world.run(asker, ask(clock.at(123)));
    if (!outcome.ok()) std::printf("%s", outcome.text().c_str());
    return outcome.ok() ? 0 : 1;
}
