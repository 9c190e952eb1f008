// SPDX-License-Identifier: BSL-1.0
//
// An echo server and its client on one loop, and the same two in a world: without a header of gyre.
// snippet: program
#include <array>
#include <chrono>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <utility>

import gyre;
import gyre.http;
import gyre.test;

using namespace std::chrono_literals;

gyre::task<> echo(gyre::tcp_socket peer) {
    std::array<std::byte, 64> space;
    for (;;) {
        const auto [error, size] = co_await peer.read_some(space);
        if (error) co_return;
        const auto sent = co_await gyre::write_all(peer, std::span(space).first(size));
        if (!sent.ok()) co_return;
    }
}

gyre::task<gyre::io_result<>> ask(gyre::endpoint where) {
    auto connected = co_await gyre::with_timeout(10s, gyre::tcp_socket::connect(where));
    if (!connected.ok()) co_return connected.error();
    auto server = connected.take();
    const std::string_view question = "hello";
    const auto sent = co_await gyre::write_all(server, gyre::bytes_of(question));
    if (!sent.ok()) co_return sent.error();
    std::array<std::byte, 5> space;
    const auto read = co_await gyre::read_exactly(server, space);
    if (!read.ok()) co_return read.error();
    if (gyre::text_of(space) != question) co_return gyre::errc::protocol_error;
    co_return gyre::io_result<>{};
}

gyre::task<gyre::io_result<>> both(gyre::endpoint local) {
    auto listening = co_await gyre::tcp_acceptor::listen(local);
    if (!listening.ok()) co_return listening.error();
    auto acceptor = listening.take();
    const auto bound = acceptor.local_endpoint();
    if (!bound.ok()) co_return bound.error();
    gyre::io_result<> asked;
    const auto body = [&](gyre::task_group& group) -> gyre::task<> {
        group.spawn(gyre::serve(std::move(acceptor), echo));
        asked = co_await ask(bound.value());
    };
    co_await gyre::with_group(body, gyre::group_options{gyre::group_mode::stop_on_exit});
    co_return asked;
}

int main() {
    const auto here = gyre::run(both({gyre::ipv4::loopback(), 0}));
    gyre::test::world world;
    gyre::test::machine& machine = world.add("both");
    auto outcome = world.run(machine, both(machine.at(7000)));
    if (!here.ok() || !outcome.ok() || !outcome.take().ok()) return 1;
    std::printf("echoed on a loop and in a world; %d is %s\n",
                static_cast<int>(gyre::http::status::not_found),
                std::string(gyre::http::reason_of(gyre::http::status::not_found)).c_str());
    return 0;
}
// end of snippet
