// SPDX-License-Identifier: BSL-1.0
//
// A client, its server, and the tests of both: a network that loses and repeats, in many orders; and each
// operation failing once.
//
// docs/guide/08_testing.md explains it. It links gyre::test.
// snippet: program
#include <gyre/gyre.hpp>
#include <gyre/test/fuse.hpp>
#include <gyre/test/world.hpp>

#include <array>
#include <cstdio>
#include <set>
#include <string>

using namespace std::chrono_literals;

// The program. An order is a byte, its number; the server confirms it by the same byte.

struct order_book {
    std::set<std::byte> seen;
    int orders = 0;
};

gyre::task<gyre::io_result<>> take_orders(gyre::endpoint local, order_book& book) {
    auto bound = co_await gyre::udp_socket::bind(local);
    if (!bound.ok()) co_return bound.error();
    auto socket = bound.take();
    std::array<std::byte, 1> space;
    for (;;) {
        const auto [error, order, sender] = co_await socket.receive_from(space);
        if (error) co_return error;
        if (book.seen.insert(space[0]).second) ++book.orders;  // An order that is repeated is one.
        static_cast<void>(co_await socket.send_to(space, sender));
    }
}

gyre::task<gyre::io_result<>> confirmed(gyre::udp_socket& server, std::byte number) {
    std::array<std::byte, 1> space{};
    for (;;) {
        const auto [error, answer] = co_await server.receive(space);
        if (error) co_return error;
        if (space[0] == number) co_return gyre::io_result<>{};
    }
}

gyre::task<gyre::io_result<>> send_orders(gyre::endpoint where, int count) {
    auto bound = co_await gyre::udp_socket::bind({gyre::ipv4::any(), 0});
    if (!bound.ok()) co_return bound.error();
    auto server = bound.take();
    const auto connected = server.connect(where);
    if (!connected.ok()) co_return connected;
    for (int each = 1; each <= count;) {
        const std::array number{static_cast<std::byte>(each)};
        const auto sent = co_await server.send(number);
        if (!sent.ok()) co_return sent.error();
        const auto answer = co_await gyre::with_timeout(1s, confirmed(server, number[0]));
        if (answer.ok()) {
            ++each;
        } else if (answer.error() != gyre::errc::timed_out) {
            co_return answer;
        }
    }
    co_return gyre::io_result<>{};
}

// The tests. Each returns what is wrong, or nothing.

std::string twenty_orders_over_a_bad_network(std::uint64_t seed) {
    order_book book;  // Outlives the world, whose server uses it.
    gyre::test::world_options chance;
    chance.seed = seed;
    chance.shuffled = true;
    gyre::test::world world{chance};
    gyre::test::machine& server = world.add("server");
    gyre::test::machine& client = world.add("client");
    gyre::test::link_options bad;
    bad.latency = 40ms;
    bad.jitter = 40ms;
    bad.loss = 0.3;
    bad.duplication = 0.3;
    world.set_links(bad);

    world.start(server, take_orders(server.at(9000), book));
    auto outcome = world.run(client, send_orders(server.at(9000), 20));

    if (!outcome.ok()) return outcome.text();  // What hangs, and where.
    const auto sent = outcome.take();
    if (!sent.ok()) return "the client fails: " + sent.error().message() + "\n";
    if (book.orders != 20) return std::to_string(book.orders) + " orders have come of 20\n";
    return "";
}

// Whatever of its operations fails: the client has sent its orders, or tells that error.
std::string two_orders_with_a_fault(gyre::test::fuse& fault) {
    order_book book;
    gyre::test::world world;
    gyre::test::machine& server = world.add("server");
    gyre::test::machine& client = world.add("client");
    client.set_fuse(&fault);

    world.start(server, take_orders(server.at(9000), book));
    auto outcome = world.run(client, send_orders(server.at(9000), 2));

    if (!outcome.ok()) return outcome.text();
    const auto sent = outcome.take();
    if (sent.ok()) return book.orders == 2 ? "" : "orders are lost";
    return sent.error() == fault.fault() ? "" : "it tells something else";
}

int main() {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        const std::string wrong = twenty_orders_over_a_bad_network(seed);
        if (wrong.empty()) continue;
        std::printf("seed %llu: %s", static_cast<unsigned long long>(seed), wrong.c_str());
        return 1;
    }
    const auto report = gyre::test::fail_each(two_orders_with_a_fault);
    std::printf("%s%zu faults of %zu operations\n", report.text().c_str(), report.faults(),
                report.operations());
    return report.ok() && report.faults() > 0 ? 0 : 1;
}
// end of snippet
