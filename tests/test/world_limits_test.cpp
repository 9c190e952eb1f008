// SPDX-License-Identifier: BSL-1.0
//
// Options at and beyond their limits, runs without an end, threads beside a world, and what outlives one.
#include <gyre/test/world.hpp>

#include <base/ending.hpp>
#include <gyre/base/build.hpp>
#include <gyre/io/acceptor.hpp>
#include <gyre/io/stream_socket.hpp>
#include <gyre/io/udp_socket.hpp>
#include <gyre/runtime/call.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/timeout.hpp>

#include <doctest/doctest.h>

#include <malloc.h>

#include <array>
#include <chrono>
#include <limits>
#include <string>
#include <thread>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

struct two_machines {
    test::world world;
    test::machine& server = world.add("server");
    test::machine& client = world.add("client");
    endpoint where = server.at(7000);
};

task<io_result<stream_socket>> connect(endpoint where) {
    auto connected = co_await stream_socket::connect(where);
    co_return connected;
}

}  // namespace

// Options.

TEST_CASE("what is as late as can be never arrives, and does not come early either") {
    for (const auto what : {&test::link_options::latency, &test::link_options::jitter}) {
        two_machines in;
        test::link_options slow;
        slow.*what = duration::max();
        slow.loss = 0.5;
        in.world.set_links(slow);
        stream_acceptor acceptor = stream_acceptor::listen(in.server.io(), in.where).take();
        udp_socket to = udp_socket::bind(in.server.io(), in.server.at(9000)).take();
        udp_socket from = udp_socket::bind(in.client.io(), in.client.at(0)).take();
        const auto send = [&]() -> task<> {
            CHECK((co_await from.send_to(bytes_of("late"), in.server.at(9000))).ok());
        };
        const time_point began = in.world.now();

        CHECK(in.world.run(in.client, send()).ok());
        auto outcome = in.world.run(in.client, connect(in.where));

        CHECK(outcome.take().error() == errc::connection_timed_out);
        CHECK(in.world.now() - began == 127s);
        std::array<std::byte, 8> space;
        const auto listen = [&]() -> task<error> {
            const auto got = co_await with_timeout(1s, to.receive(mutable_buffer{space}));
            co_return got.error();
        };
        CHECK(in.world.run(in.server, listen()).take() == errc::timed_out);
    }
}

TEST_CASE("what is sent when a link has become as slow as can be never arrives") {
    two_machines in;
    stream_acceptor acceptor = stream_acceptor::listen(in.server.io(), in.where).take();
    const auto read = [&]() -> task<error> {
        auto accepted = co_await acceptor.accept();
        stream_socket from = accepted.take();
        std::array<std::byte, 8> space;
        const auto got = co_await with_timeout(1h, from.read_some(mutable_buffer{space}));
        co_return got.error();
    };
    const auto write = [&]() -> task<> {
        auto connected = co_await stream_socket::connect(in.where);
        stream_socket to = connected.take();
        test::link_options slow;
        slow.latency = duration::max();
        in.world.set_links(slow);
        CHECK((co_await write_all(to, bytes_of("late"))).ok());
    };
    in.world.start(in.client, write());

    CHECK(in.world.run(in.server, read()).take() == errc::timed_out);
}

TEST_CASE("of a link that loses everything streams come late, and datagrams not at all") {
    two_machines in;
    test::link_options bad;
    bad.loss = 1;
    in.world.set_links(bad);
    stream_acceptor acceptor = stream_acceptor::listen(in.server.io(), in.where).take();
    const time_point began = in.world.now();

    auto outcome = in.world.run(in.client, connect(in.where));

    CHECK(outcome.take().ok());
    CHECK(in.world.now() - began == 2 * 16 * 200ms);
}

TEST_CASE("sockets with room for one byte carry everything, byte by byte") {
    test::machine_options small;
    small.send_buffer = small.receive_buffer = 1;
    test::world world;
    test::machine& machine = world.add("small", small);
    auto ends = machine.connected_pair();
    std::string got;
    const auto read = [&]() -> task<> {
        std::array<std::byte, 8> space;
        while (got.size() < 100) {
            const auto some = co_await ends.second.read_some(mutable_buffer{space});
            if (!some.ok()) co_return;
            got += text_of(const_buffer{space}.first(some.value()));
        }
    };
    const std::string sent(100, 'x');
    const auto write = [&]() -> task<> { CHECK((co_await write_all(ends.first, bytes_of(sent))).ok()); };
    world.start(machine, read());
    world.start(machine, write());

    const auto outcome = world.run();

    CHECK_MESSAGE(outcome.ok(), outcome.text());
    CHECK(got == sent);
}

TEST_CASE("a long stream to a reader that is never done takes no more memory than its buffers") {
    test::world world;
    test::machine& machine = world.add("alone");
    auto ends = machine.connected_pair();
    constexpr std::size_t total = 20'000'000;
    const auto memory_in_use = [] { return ::mallinfo2().uordblks + ::mallinfo2().hblkhd; };
    std::size_t most = 0;
    const auto read = [&]() -> task<> {
        std::vector<std::byte> space(30'000);  // Less than comes: something is always left.
        for (std::size_t got = 0; got < total;) {
            static_cast<void>(co_await sleep_for(1us));
            const auto some = co_await ends.second.read_some(mutable_buffer{space});
            if (!some.ok()) co_return;
            got += some.value();
            most = std::max(most, memory_in_use());
        }
    };
    const auto write = [&]() -> task<> {
        const std::vector<std::byte> piece(100'000);
        for (std::size_t sent = 0; sent < total; sent += piece.size()) {
            if (!(co_await write_all(ends.first, const_buffer{piece})).ok()) co_return;
        }
    };
    const std::size_t before = memory_in_use();
    world.start(machine, read());
    world.start(machine, write());

    const auto outcome = world.run();

    CHECK_MESSAGE(outcome.ok(), outcome.text());
    if (recycles_memory) CHECK(most - before < 2'000'000);  // Else malloc is not asked.
}
