// SPDX-License-Identifier: BSL-1.0
//
// Links that are cut: nothing passes, whatever was under way, and what was sent goes on when they are healed.
#include <gyre/test/network.hpp>

#include <gyre/io/acceptor.hpp>
#include <gyre/io/stream_socket.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/timeout.hpp>
#include <gyre/test/world.hpp>

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <string>
#include <vector>

using namespace gyre;
using namespace std::chrono_literals;

namespace {

struct three_machines {
    test::world world;
    test::machine& server = world.add("server");
    test::machine& client = world.add("client");
    test::machine& other = world.add("other");
    endpoint where = server.at(7000);

    three_machines() {
        test::link_options options;
        options.latency = 20ms;
        world.set_links(options);
    }

    // Lets `wait` pass, cuts the link between server and client, and heals it later.
    task<> cut_after(duration wait, duration length) {
        static_cast<void>(co_await sleep_for(wait));
        world.partition(server, client);
        static_cast<void>(co_await sleep_for(length));
        world.heal(server, client);
    }
};

task<io_result<stream_socket>> connect(endpoint where) {
    auto connected = co_await stream_socket::connect(where);
    co_return connected;
}

}  // namespace

TEST_CASE("a connection is not made by an answer that a cut has kept back") {
    three_machines in;
    stream_acceptor acceptor = stream_acceptor::listen(in.server.io(), in.where).take();
    in.world.start(in.other, in.cut_after(30ms, 10s));  // The answer is on its way.
    const time_point began = in.world.now();

    auto outcome = in.world.run(in.client, connect(in.where));

    CHECK_MESSAGE(outcome.ok(), outcome.text());
    CHECK(outcome.take().ok());
    CHECK(in.world.now() - began == 10s + 30ms + 20ms);
}

TEST_CASE("a connection whose answer never comes is given up, and the other end hears of it") {
    three_machines in;
    stream_acceptor acceptor = stream_acceptor::listen(in.server.io(), in.where).take();
    error heard;
    const auto serve = [&]() -> task<> {
        auto accepted = co_await acceptor.accept();
        stream_socket peer = accepted.take();
        std::array<std::byte, 4> space;
        const auto got = co_await peer.read_some(mutable_buffer{space});
        heard = got.error();
    };
    in.world.start(in.server, serve());
    in.world.start(in.other, in.cut_after(30ms, 1h));
    const time_point began = in.world.now();

    auto outcome = in.world.run(in.client, connect(in.where));
    CHECK(outcome.take().error() == errc::connection_timed_out);
    CHECK(in.world.now() - began == 127s);

    const auto rest = in.world.run();
    CHECK_MESSAGE(rest.ok(), rest.text());
    CHECK(heard == errc::connection_reset);
}

TEST_CASE("a refusal that a cut has kept back is asked for again") {
    three_machines in;
    in.world.start(in.other, in.cut_after(30ms, 10s));
    const time_point began = in.world.now();

    auto outcome = in.world.run(in.client, connect(in.where));

    CHECK(outcome.take().error() == errc::connection_refused);
    CHECK(in.world.now() - began == 15s + 40ms);  // By the try after 1 + 2 + 4 + 8 seconds.
}

TEST_CASE("a reset that a cut has kept back is told when the link is healed") {
    three_machines in;
    stream_acceptor acceptor = stream_acceptor::listen(in.server.io(), in.where).take();
    const auto leave = [&]() -> task<> { static_cast<void>(co_await acceptor.accept()); };
    in.world.start(in.server, leave());
    const auto send = [&]() -> task<error> {
        auto connected = co_await stream_socket::connect(in.where);
        stream_socket to = connected.take();
        std::array<std::byte, 4> space;
        const auto end = co_await to.read_some(mutable_buffer{space});
        CHECK(end.error() == errc::eof);
        in.world.start(in.other, in.cut_after(30ms, 10s));
        CHECK((co_await to.write_some(bytes_of("too late"))).ok());
        static_cast<void>(co_await sleep_for(1s));
        CHECK((co_await to.write_some(bytes_of("still"))).ok());  // Nothing has been heard.
        static_cast<void>(co_await sleep_for(10s));
        const auto told = co_await to.write_some(bytes_of("now"));
        co_return told.error();
    };

    auto outcome = in.world.run(in.client, send());

    CHECK_MESSAGE(outcome.ok(), outcome.text());
    CHECK(outcome.take() == errc::broken_pipe);
}

TEST_CASE("what is healed elsewhere does not give a partition more time") {
    three_machines in;
    stream_acceptor acceptor = stream_acceptor::listen(in.server.io(), in.where).take();
    const auto flap = [&]() -> task<> {
        for (int each = 0; each < 20; ++each) {
            in.world.partition(in.other, in.server);
            static_cast<void>(co_await sleep_for(5min));
            in.world.heal(in.other, in.server);
        }
    };
    time_point cut{};
    const auto send = [&]() -> task<error> {
        auto connected = co_await stream_socket::connect(in.where);
        stream_socket to = connected.take();
        in.world.partition(in.client, in.server);
        cut = in.world.now();
        in.world.start(in.other, flap());
        static_cast<void>(co_await write_all(to, bytes_of("hello?")));
        std::array<std::byte, 4> space;
        const auto got = co_await to.read_some(mutable_buffer{space});
        co_return got.error();
    };

    auto outcome = in.world.run(in.client, send());

    CHECK_MESSAGE(outcome.ok(), outcome.text());
    CHECK(outcome.take() == errc::connection_timed_out);
    CHECK(in.world.now() - cut == 924s);
    CHECK(in.world.run().ok());  // Until the other link rests.
}

TEST_CASE("a link of its own keeps what it was set to when all others are set") {
    three_machines in;
    test::link_options slow;
    slow.latency = 1s;
    in.world.set_link(in.server, in.client, slow);
    test::link_options quick;
    quick.latency = 1ms;
    in.world.set_links(quick);
    stream_acceptor acceptor = stream_acceptor::listen(in.server.io(), in.where).take();

    const time_point began = in.world.now();
    CHECK(in.world.run(in.client, connect(in.where)).take().ok());
    CHECK(in.world.now() - began == 2s);
    const time_point others = in.world.now();
    CHECK(in.world.run(in.other, connect(in.where)).take().ok());
    CHECK(in.world.now() - others == 2ms);
}

TEST_CASE("a machine that is switched off and on breaks what nobody has accepted yet") {
    three_machines in;
    stream_acceptor acceptor = stream_acceptor::listen(in.server.io(), in.where).take();
    const auto send = [&]() -> task<error> {
        auto connected = co_await stream_socket::connect(in.where);
        stream_socket to = connected.take();
        static_cast<void>(co_await sleep_for(1s));
        in.server.break_connections();
        CHECK((co_await to.write_some(bytes_of("who is there"))).ok());
        static_cast<void>(co_await sleep_for(1s));
        const auto after = co_await to.write_some(bytes_of("nobody"));
        co_return after.error();
    };
    const auto accept = [&]() -> task<error> {
        auto accepted = co_await acceptor.accept();
        stream_socket peer = accepted.take();
        std::array<std::byte, 16> space;
        const auto got = co_await peer.read_some(mutable_buffer{space});
        co_return got.error();
    };

    CHECK(in.world.run(in.client, send()).take() == errc::connection_reset);
    CHECK(in.world.run(in.server, accept()).take() == errc::connection_reset);
}

TEST_CASE("a machine that is switched off and on sends nothing of what it had closed") {
    three_machines in;
    stream_acceptor acceptor = stream_acceptor::listen(in.server.io(), in.where).take();
    const std::string text(200'000, 'x');  // More than the client has room for.
    const auto leave = [&]() -> task<> {
        auto accepted = co_await acceptor.accept();
        stream_socket peer = accepted.take();
        CHECK((co_await write_all(peer, bytes_of(text))).ok());
    };
    in.world.start(in.server, leave());
    std::size_t got = 0;
    const auto read = [&]() -> task<error> {
        auto connected = co_await stream_socket::connect(in.where);
        stream_socket from = connected.take();
        static_cast<void>(co_await sleep_for(1s));
        in.server.break_connections();
        std::vector<std::byte> space(4096);
        for (;;) {
            const auto some = co_await with_timeout(1s, from.read_some(mutable_buffer{space}));
            if (!some.ok()) co_return some.error();
            got += some.value();
        }
    };

    CHECK(in.world.run(in.client, read()).take() == errc::timed_out);
    CHECK(got == 128 * 1024);
}
