// SPDX-License-Identifier: BSL-1.0
//
// Edges of the models of sockets that nothing else comes to: what is lost, told, refused, and when.
#include <gyre/test/world.hpp>

#include <gyre/io/acceptor.hpp>
#include <gyre/io/local_message_socket.hpp>
#include <gyre/io/socket_options.hpp>
#include <gyre/io/stream_socket.hpp>
#include <gyre/io/udp_socket.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/timeout.hpp>
#include <test/two_machines.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <string>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

struct datagram_machines : two_machines {
    udp_socket to = udp_socket::bind(server.io(), server.at(9000)).take();
    udp_socket from = udp_socket::bind(client.io(), client.at(0)).take();

    error send(const_buffer bytes, const endpoint& where) {
        const auto body = [&]() -> task<error> {
            const auto sent = co_await from.send_to(bytes, where);
            co_return sent.error();
        };
        return run(client, body());
    }
};

// How many come within a second each.
task<int> count(udp_socket& at) {
    int received = 0;
    std::vector<std::byte> space(65'536);
    for (;;) {
        const auto got = co_await with_timeout(1s, at.receive(mutable_buffer{space}));
        if (!got.ok()) co_return received;
        ++received;
    }
}

}  // namespace

TEST_CASE("a datagram is lost in a cut at its beginning or at its end, though the link is healed") {
    datagram_machines in;
    in.world.set_links(slow(100ms));

    in.world.partition(in.client, in.server);
    CHECK_FALSE(in.send(bytes_of("into the cut"), in.server.at(9000)));
    in.world.heal(in.client, in.server);
    CHECK(in.run(in.server, count(in.to)) == 0);

    CHECK_FALSE(in.send(bytes_of("under way"), in.server.at(9000)));
    in.world.partition(in.client, in.server);
    CHECK(in.run(in.server, count(in.to)) == 0);
    in.world.heal(in.client, in.server);
    CHECK(in.run(in.server, count(in.to)) == 0);

    CHECK_FALSE(in.send(bytes_of("through"), in.server.at(9000)));
    CHECK(in.run(in.server, count(in.to)) == 1);
}

TEST_CASE("datagrams for which the receiver has no room are lost") {
    datagram_machines in;
    const std::vector<std::byte> large(30'000);
    for (int each = 0; each < 10; ++each)
        CHECK_FALSE(in.send(const_buffer{large}, in.server.at(9000)));

    CHECK(in.run(in.server, count(in.to)) == 4);  // Of 128 KiB.
}

TEST_CASE("who has not fixed a peer is not told that nobody is there") {
    datagram_machines in;
    CHECK_FALSE(in.send(bytes_of("anyone"), in.server.at(9)));
    std::array<std::byte, 8> space;
    const auto listen = [&]() -> task<error> {
        const auto got = co_await with_timeout(1s, in.from.receive(mutable_buffer{space}));
        co_return got.error();
    };

    CHECK(in.run(in.client, listen()) == errc::timed_out);
}

TEST_CASE("a datagram for port 0 is refused") {
    datagram_machines in;

    CHECK(in.send(bytes_of("x"), in.server.at(0)) == errc::invalid_argument);
}

TEST_CASE(
    "options out of their range, or that come too late, are refused, and a buffer has a least") {
    datagram_machines in;
    udp_socket v6 = udp_socket::bind(in.client.io(), {in.client.v6(), 0}).take();

    CHECK(in.from.set_hops(255).ok());
    CHECK(in.from.set_hops(256).error() == errc::invalid_argument);
    CHECK(v6.set_option(v6_only{{true}}).error() == errc::invalid_argument);
    CHECK(in.from.set_option(receive_buffer{{1}}).ok());
    CHECK(in.from.get_option<receive_buffer>().value().bytes == 2304);
}

TEST_CASE("a machine hears its own datagrams to a group only if it wants to") {
    datagram_machines in;
    const endpoint group{ipv4{{239, 1, 2, 3}}, 5000};
    udp_socket member = udp_socket::bind(in.client.io(), {ipv4::any(), 5000}).take();
    CHECK(member.join(group).ok());

    CHECK_FALSE(in.send(bytes_of("heard"), group));
    CHECK(in.run(in.client, count(member)) == 1);
    CHECK(in.from.set_multicast_loopback(false).ok());
    CHECK_FALSE(in.send(bytes_of("not heard"), group));
    CHECK(in.run(in.client, count(member)) == 0);
}

TEST_CASE("a stream cannot be connected to the name of datagrams") {
    datagram_machines in;
    const endpoint name = endpoint::parse("unix:@messages").value();
    const local_datagram_socket there = local_datagram_socket::bind(in.client.io(), name).take();
    const auto connect = [&]() -> task<error> {
        const auto connected = co_await stream_socket::connect(name);
        co_return connected.error();
    };

    CHECK(in.run(in.client, connect()) == error::from_errno(EPROTOTYPE, activity::connect));
}

TEST_CASE("bytes do not overtake slower ones of their stream") {
    datagram_machines in;
    stream_acceptor acceptor = stream_acceptor::listen(in.server.io(), in.server.at(7000)).take();
    time_point sent{};
    const auto write = [&]() -> task<> {
        auto connected = co_await stream_socket::connect(in.server.at(7000));
        stream_socket to = connected.take();
        sent = in.world.now();
        in.world.set_links(slow(100ms));
        static_cast<void>(co_await to.write_some(bytes_of("slow")));
        in.world.set_links(slow(1ms));
        static_cast<void>(co_await to.write_some(bytes_of("quick")));
        static_cast<void>(co_await sleep_for(1s));
    };
    const auto read = [&]() -> task<duration> {
        auto accepted = co_await acceptor.accept();
        stream_socket peer = accepted.take();
        std::array<std::byte, 4> space;
        static_cast<void>(co_await read_exactly(peer, mutable_buffer{space}));
        co_return in.world.now() - sent;
    };
    in.world.start(in.client, write());

    CHECK(in.run(in.server, read()) == 100ms);
}

TEST_CASE("a reset drops what was not read") {
    datagram_machines in;
    stream_acceptor acceptor = stream_acceptor::listen(in.server.io(), in.server.at(7000)).take();
    const auto leave = [&]() -> task<> {
        auto accepted = co_await acceptor.accept();
        stream_socket peer = accepted.take();
        static_cast<void>(co_await peer.write_some(bytes_of("lost")));
        static_cast<void>(co_await peer.wait(readiness::readable));
    };  // With unread bytes, which resets.
    in.world.start(in.server, leave());
    const auto read = [&]() -> task<error> {
        auto connected = co_await stream_socket::connect(in.server.at(7000));
        stream_socket from = connected.take();
        static_cast<void>(co_await from.write_some(bytes_of("never read")));
        static_cast<void>(co_await sleep_for(1s));
        std::array<std::byte, 4> space;
        const auto got = co_await from.read_some(mutable_buffer{space});
        co_return got.error();
    };

    CHECK(in.run(in.client, read()) == errc::connection_reset);
}

TEST_CASE("who waits until bytes are there keeps nobody from writing") {
    test::world world;
    test::machine& machine = world.add("alone");
    auto ends = machine.connected_pair();
    const auto wait = [&]() -> task<> {
        static_cast<void>(co_await ends.first.wait(readiness::readable));
    };
    const auto write = [&]() -> task<error> {
        const auto sent = co_await with_timeout(1s, ends.first.write_some(bytes_of("x")));
        co_return sent.error();
    };
    world.start(machine, wait());

    CHECK_FALSE(world.run(machine, write()).take());
}

TEST_CASE("polls are counted at one moment, and not at all of them together") {
    test::world_options options;
    options.polls_at_a_moment_max = 20;
    test::world world{options};
    const auto rest = []() -> task<> {
        for (int each = 0; each < 100; ++each) static_cast<void>(co_await sleep_for(1ms));
    };

    const auto outcome = world.run(world.add("alone"), rest());

    CHECK_MESSAGE(outcome.ok(), outcome.text());
}
