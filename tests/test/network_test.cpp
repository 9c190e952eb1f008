// SPDX-License-Identifier: BSL-1.0
//
// What the network of a world does to what it carries: see include/gyre/test/network.hpp.
#include <gyre/test/network.hpp>

#include <gyre/io/acceptor.hpp>
#include <gyre/io/pipe.hpp>
#include <gyre/io/resolver.hpp>
#include <gyre/io/stream_socket.hpp>
#include <gyre/io/udp_socket.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <gyre/sync/when_all.hpp>
#include <gyre/test/world.hpp>
#include <test/two_machines.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

// Reads until the end, or an error, which is kept.
task<> read_all(stream_socket& from, std::string& into, error& ended) {
    std::array<std::byte, 1000> space;
    for (;;) {
        const auto got = co_await from.read_some(mutable_buffer{space});
        ended = got.error();
        if (ended) co_return;
        into += text_of(const_buffer{space}.first(got.value()));
    }
}

task<stream_socket> connected_to(endpoint where) {
    auto connected = co_await stream_socket::connect(where);
    CHECK_FALSE(connected.error());
    co_return connected.take();
}

}  // namespace

// Streams.

TEST_CASE("a connection takes the way there and back, an answer another one") {
    two_machines in;
    in.world.set_links(slow(20ms));
    stream_acceptor acceptor = in.listen();
    const auto answer = [&]() -> task<> {
        auto taken = co_await acceptor.accept();
        stream_socket peer = taken.take();
        std::array<std::byte, 4> space;
        static_cast<void>(co_await peer.read_some(mutable_buffer{space}));
        static_cast<void>(co_await write_all(peer, bytes_of("pong")));
    };
    in.world.start(in.server, answer());
    const time_point began = in.world.now();
    duration connected{};
    const auto ask = [&]() -> task<> {
        stream_socket to = co_await connected_to(in.where);
        connected = in.world.now() - began;
        static_cast<void>(co_await write_all(to, bytes_of("ping")));
        std::array<std::byte, 4> space;
        const auto got = co_await read_exactly(to, mutable_buffer{space});
        CHECK(got.ok());
    };

    in.run(ask());

    CHECK(connected == 40ms);
    CHECK(in.world.now() - began == 80ms);
}

TEST_CASE("a line of so many bytes a second takes its time") {
    two_machines in;
    test::link_options options;
    options.bytes_per_second = 1'000'000;
    in.world.set_links(options);
    stream_acceptor acceptor = in.listen();
    std::string got;
    error ended;
    const auto receive = [&]() -> task<> {
        auto taken = co_await acceptor.accept();
        stream_socket peer = taken.take();
        co_await read_all(peer, got, ended);
    };
    in.world.start(in.server, receive());
    const time_point began = in.world.now();
    const auto send = [&]() -> task<> {
        stream_socket to = co_await connected_to(in.where);
        const std::string text(3'000'000, 'x');
        const auto sent = co_await write_all(to, bytes_of(text));
        CHECK(sent.value() == text.size());
    };
    in.run(send());

    const auto outcome = in.world.run_until([&] { return bool{ended}; });

    CHECK_MESSAGE(outcome.ok(), outcome.text());
    CHECK(got.size() == 3'000'000);
    CHECK(in.world.now() - began == 3s);
}

TEST_CASE("who does not read stops who writes, at the size of both buffers") {
    two_machines in;
    stream_acceptor acceptor = in.listen();
    std::size_t sent = 0;
    const auto send = [&]() -> task<error> {
        stream_socket to = co_await connected_to(in.where);
        const std::vector<std::byte> piece(10'000);
        for (;;) {
            const auto some = co_await with_timeout(1min, to.write_some(const_buffer{piece}));
            if (!some.ok()) co_return some.error();
            sent += some.value();
        }
    };

    CHECK(in.run(send()) == errc::timed_out);

    CHECK(sent == 2 * 128 * 1024);
}

TEST_CASE("bytes arrive in their order and once, however the link behaves") {
    two_machines in;
    test::link_options bad = slow(3ms);
    bad.jitter = 20ms;
    bad.loss = 0.2;
    bad.bytes_per_second = 10'000'000;
    in.world.set_links(bad);
    stream_acceptor acceptor = in.listen();
    std::string sent;
    for (int word = 0; word < 50'000; ++word) sent += std::to_string(word) + ' ';
    std::string got;
    error ended;
    const auto receive = [&]() -> task<> {
        auto taken = co_await acceptor.accept();
        stream_socket peer = taken.take();
        co_await read_all(peer, got, ended);
    };
    in.world.start(in.server, receive());
    const auto send = [&]() -> task<> {
        stream_socket to = co_await connected_to(in.where);
        CHECK((co_await write_all(to, bytes_of(sent))).ok());
    };
    in.run(send());

    const auto outcome = in.world.run_until([&] { return bool{ended}; });

    CHECK_MESSAGE(outcome.ok(), outcome.text());
    CHECK(ended == errc::eof);
    CHECK(got == sent);
}

TEST_CASE("each direction ends by itself, and what was sent before is read first") {
    two_machines in;
    stream_acceptor acceptor = in.listen();
    std::string asked;
    const auto answer = [&]() -> task<> {
        auto taken = co_await acceptor.accept();
        stream_socket peer = taken.take();
        error ended;
        co_await read_all(peer, asked, ended);
        CHECK(ended == errc::eof);
        static_cast<void>(co_await write_all(peer, bytes_of("the answer")));
    };
    in.world.start(in.server, answer());
    std::string answered;
    error ended;
    const auto ask = [&]() -> task<> {
        stream_socket to = co_await connected_to(in.where);
        static_cast<void>(co_await write_all(to, bytes_of("a question")));
        CHECK(to.shutdown(shutdown_side::send).ok());
        const auto more = co_await to.write_some(bytes_of("more"));
        CHECK(more.error() == errc::broken_pipe);
        co_await read_all(to, answered, ended);
    };

    in.run(ask());

    CHECK(asked == "a question");
    CHECK(answered == "the answer");
    CHECK(ended == errc::eof);
}

TEST_CASE("closing with unread input resets the peer") {
    two_machines in;
    stream_acceptor acceptor = in.listen();
    const auto leave = [&]() -> task<> {
        auto taken = co_await acceptor.accept();
        stream_socket peer = taken.take();
        static_cast<void>(co_await peer.wait(readiness::readable));
    };
    in.world.start(in.server, leave());
    const auto ask = [&]() -> task<error> {
        stream_socket to = co_await connected_to(in.where);
        static_cast<void>(co_await write_all(to, bytes_of("never read")));
        std::array<std::byte, 4> space;
        const auto got = co_await to.read_some(mutable_buffer{space});
        const auto after = co_await to.write_some(bytes_of("more"));
        CHECK(after.error() == errc::broken_pipe);
        co_return got.error();
    };

    CHECK(in.run(ask()) == errc::connection_reset);
}

TEST_CASE("what is sent to a peer that has closed comes back as a reset") {
    two_machines in;
    in.world.set_links(slow(5ms));
    stream_acceptor acceptor = in.listen();
    const auto leave = [&]() -> task<> { static_cast<void>(co_await acceptor.accept()); };
    in.world.start(in.server, leave());
    const auto send = [&]() -> task<error> {
        stream_socket to = co_await connected_to(in.where);
        std::array<std::byte, 4> space;
        const auto end = co_await to.read_some(mutable_buffer{space});
        CHECK(end.error() == errc::eof);
        const auto first = co_await to.write_some(bytes_of("too late"));
        CHECK(first.ok());
        static_cast<void>(co_await sleep_for(1s));
        const auto second = co_await to.write_some(bytes_of("still"));
        co_return second.error();
    };

    CHECK(in.run(send()) == errc::broken_pipe);
}

TEST_CASE("a machine that is switched off and on breaks its connections") {
    two_machines in;
    stream_acceptor acceptor = in.listen();
    error here;
    const auto hold = [&]() -> task<> {
        auto taken = co_await acceptor.accept();
        stream_socket peer = taken.take();
        std::string unused;
        co_await read_all(peer, unused, here);
    };
    in.world.start(in.server, hold());
    const auto send = [&]() -> task<error> {
        stream_socket to = co_await connected_to(in.where);
        static_cast<void>(co_await sleep_for(1s));
        in.server.break_connections();
        static_cast<void>(co_await to.write_some(bytes_of("who is there")));
        static_cast<void>(co_await sleep_for(1s));
        const auto after = co_await to.write_some(bytes_of("nobody"));
        co_return after.error();
    };

    CHECK(in.run(send()) == errc::connection_reset);
    CHECK(here == errc::connection_reset);
}

// Connecting.

TEST_CASE("nobody listens, nobody is there, or nobody answers: three different failures") {
    two_machines in;
    const time_point began = in.world.now();
    const auto connect = [](endpoint where) -> task<error> {
        const auto connected = co_await stream_socket::connect(where);
        co_return connected.error();
    };
    in.world.set_links(slow(10ms));
    CHECK(in.run(connect(in.where)) == errc::connection_refused);
    CHECK(in.world.now() - began == 20ms);
    CHECK(in.run(connect(endpoint{ipv4{{192, 0, 2, 1}}, 80})) == errc::host_unreachable);

    in.world.partition(in.client, in.server);
    const time_point cut = in.world.now();
    CHECK(in.run(connect(in.where)) == errc::connection_timed_out);
    CHECK(in.world.now() - cut == 127s);
}

TEST_CASE("a connection is made once the link is healed, by the next try") {
    two_machines in;
    stream_acceptor acceptor = in.listen();
    in.world.partition(in.client, in.server);
    const auto heal = [&]() -> task<> {
        static_cast<void>(co_await sleep_for(2s));
        in.world.heal(in.client, in.server);
    };
    in.world.start(in.server, heal());
    const time_point began = in.world.now();
    const auto connect = [&]() -> task<error> {
        const auto connected = co_await stream_socket::connect(in.where);
        co_return connected.error();
    };

    CHECK_FALSE(in.run(connect()));

    CHECK(in.world.now() - began == 3s);  // After one second, and then two.
}

TEST_CASE("a full backlog lets nobody in until somebody is accepted") {
    two_machines in;
    listen_options options;
    options.backlog_connections_max = 1;
    stream_acceptor acceptor = in.listen(options);
    std::vector<stream_socket> kept;
    const auto connect = [&]() -> task<error> {
        auto connected = co_await with_timeout(500ms, stream_socket::connect(in.where));
        const error failed = connected.error();
        if (!failed) kept.push_back(connected.take());
        co_return failed;
    };

    CHECK_FALSE(in.run(connect()));
    CHECK_FALSE(in.run(connect()));  // One more than asked for, as on Linux.
    CHECK(in.run(connect()) == errc::timed_out);
    const auto accept = [&]() -> task<> { static_cast<void>(co_await acceptor.accept()); };
    auto accepted = in.world.run(in.server, accept());
    CHECK_MESSAGE(accepted.ok(), accepted.text());
    CHECK_FALSE(in.run(connect()));
    kept.clear();
}

TEST_CASE("a listener that closes resets whom it has not accepted") {
    two_machines in;
    stream_acceptor acceptor = in.listen();
    const auto wait = [&]() -> task<error> {
        stream_socket to = co_await connected_to(in.where);
        CHECK(acceptor.close().ok());
        std::array<std::byte, 4> space;
        const auto got = co_await to.read_some(mutable_buffer{space});
        co_return got.error();
    };

    CHECK(in.run(wait()) == errc::connection_reset);
}

TEST_CASE("a partition holds bytes back, and they go on when it is healed") {
    two_machines in;
    in.world.set_links(slow(5ms));
    stream_acceptor acceptor = in.listen();
    std::string got;
    error ended;
    const auto receive = [&]() -> task<> {
        auto taken = co_await acceptor.accept();
        stream_socket peer = taken.take();
        co_await read_all(peer, got, ended);
    };
    in.world.start(in.server, receive());
    const auto send = [&]() -> task<> {
        stream_socket to = co_await connected_to(in.where);
        static_cast<void>(
            co_await write_all(to, bytes_of("before ")));  // Under way when it is cut.
        in.world.partition(in.client, in.server);
        static_cast<void>(co_await write_all(to, bytes_of("during ")));
        static_cast<void>(co_await sleep_for(1min));
        CHECK(got.empty());
        in.world.heal(in.client, in.server);
        static_cast<void>(co_await write_all(to, bytes_of("after")));
    };
    in.run(send());

    const auto outcome = in.world.run_until([&] { return bool{ended}; });

    CHECK_MESSAGE(outcome.ok(), outcome.text());
    CHECK(got == "before during after");
    CHECK(ended == errc::eof);
}

TEST_CASE("a partition that lasts ends the connection of who has something to say") {
    two_machines in;
    stream_acceptor acceptor = in.listen();
    const auto send = [&]() -> task<error> {
        stream_socket to = co_await connected_to(in.where);
        in.world.partition(in.client, in.server);
        static_cast<void>(co_await write_all(to, bytes_of("hello?")));
        std::array<std::byte, 4> space;
        const auto got = co_await to.read_some(mutable_buffer{space});
        co_return got.error();
    };
    const time_point began = in.world.now();

    CHECK(in.run(send()) == errc::connection_timed_out);
    CHECK(in.world.now() - began == 924s);
}

// Names and numbers.

TEST_CASE("ports: taken is taken, 0 is any, and closing gives back") {
    two_machines in;
    auto first = stream_acceptor::listen(in.server.io(), in.where);
    CHECK(first.ok());
    CHECK(stream_acceptor::listen(in.server.io(), in.where).error() == errc::address_in_use);
    CHECK(stream_acceptor::listen(in.server.io(), {ipv4::any(), 7000}).error() ==
          errc::address_in_use);
    CHECK(stream_acceptor::listen(in.server.io(), {ipv4::loopback(), 7000}).ok());
    CHECK(stream_acceptor::listen(in.client.io(), in.where).error() == errc::address_not_available);
    CHECK(stream_acceptor::listen(in.client.io(), in.client.at(7000)).ok());
    auto any = stream_acceptor::listen(in.server.io(), in.server.at(0));
    CHECK(any.value().local_endpoint().value().port() >= 32'768);
    CHECK(first.take().close().ok());
    CHECK(stream_acceptor::listen(in.server.io(), in.where).ok());
}

TEST_CASE("both ends know both addresses, of either family") {
    for (const bool v6 : {false, true}) {
        two_machines in;
        const endpoint where = v6 ? endpoint{in.server.v6(), 7000} : in.where;
        stream_acceptor acceptor = stream_acceptor::listen(in.server.io(), where).take();
        const auto meet = [&]() -> task<> {
            auto both = co_await when_all(acceptor.accept_from(), stream_socket::connect(where));
            auto& [failed, accepted, peer] = std::get<0>(both);
            const stream_socket client = std::get<1>(both).take();
            CHECK_FALSE(failed);
            CHECK(client.remote_endpoint().value() == where);
            CHECK(accepted.local_endpoint().value() == where);
            CHECK(peer == client.local_endpoint().value());
            CHECK(accepted.remote_endpoint().value() == peer);
        };
        auto outcome = in.world.run(in.server, meet());
        CHECK_MESSAGE(outcome.ok(), outcome.text());
    }
}

TEST_CASE("a listener on all addresses of IPv6 takes IPv4 as well, and sees it mapped") {
    two_machines in;
    listen_options options;
    options.v6_only = false;
    stream_acceptor acceptor =
        stream_acceptor::listen(in.server.io(), {ipv6::any(), 7000}, options).take();
    const auto connect = [&]() -> task<> {
        stream_socket to = co_await connected_to(in.where);
        static_cast<void>(co_await sleep_for(1s));
    };
    in.world.start(in.client, connect());
    const auto accept = [&]() -> task<> {
        auto [failed, taken, peer] = co_await acceptor.accept_from();
        CHECK_FALSE(failed);
        CHECK(peer.v6() == ipv6::mapped(in.client.v4()));
    };

    auto outcome = in.world.run(in.server, accept());

    CHECK_MESSAGE(outcome.ok(), outcome.text());
}

TEST_CASE("Unix-domain names: of one machine, by path and abstract, stale ones removed") {
    two_machines in;
    for (const std::string_view text : {"unix:/run/it.sock", "unix:@it"}) {
        const endpoint name = endpoint::parse(text).value();
        for (int round = 0; round < 2; ++round) {
            stream_acceptor acceptor = stream_acceptor::listen(in.server.io(), name).take();
            CHECK(stream_acceptor::listen(in.server.io(), name).error() == errc::address_in_use);
            const auto meet = [&]() -> task<> {
                stream_socket client = co_await connected_to(name);
                auto taken = co_await acceptor.accept();
                stream_socket server = taken.take();
                CHECK((co_await client.write_some(bytes_of("hi"))).value() == 2);
                std::array<std::byte, 4> space;
                CHECK((co_await server.read_some(mutable_buffer{space})).value() == 2);
                CHECK(client.close().ok());
                CHECK((co_await server.write_some(bytes_of("x"))).error() == errc::broken_pipe);
            };
            auto outcome = in.world.run(in.server, meet());
            CHECK_MESSAGE(outcome.ok(), outcome.text());
        }
        const auto elsewhere = [&]() -> task<error> {
            const auto connected = co_await stream_socket::connect(name);
            co_return connected.error();
        };
        const error failed = in.run(elsewhere());
        CHECK((failed == errc::no_such_file || failed == errc::connection_refused));
    }
}

TEST_CASE("a machine runs out of descriptors, and closing gives them back") {
    test::world world;
    test::machine_options few;
    few.descriptors_max = 6;
    test::machine& machine = world.add("small", few);
    std::vector<udp_socket> open;
    const endpoint any{ipv4::loopback(), 0};

    for (int each = 0; each < 3; ++each) open.push_back(udp_socket::bind(machine.io(), any).take());
    CHECK(udp_socket::bind(machine.io(), any).error() == errc::process_descriptors_exhausted);
    open.pop_back();
    CHECK(udp_socket::bind(machine.io(), any).ok());
    CHECK(machine.open_descriptors() == 2);
}

TEST_CASE("a pipe holds back its writer, ends with it, and tells it that nobody reads") {
    test::world world;
    test::machine& machine = world.add("alone");
    const auto use = []() -> task<> {
        auto [failed, reader, writer] = make_pipe(*io_context::current());
        CHECK_FALSE(failed);
        CHECK((co_await writer.write_some(bytes_of("through"))).value() == 7);
        std::array<std::byte, 16> space;
        CHECK((co_await reader.read_some(mutable_buffer{space})).value() == 7);
        const auto waited = co_await with_timeout(1s, reader.read_some(mutable_buffer{space}));
        CHECK(waited.error() == errc::timed_out);
        CHECK(reader.close().ok());
        CHECK((co_await writer.write_some(bytes_of("x"))).error() == errc::broken_pipe);
    };

    auto outcome = world.run(machine, use());

    CHECK_MESSAGE(outcome.ok(), outcome.text());
    CHECK(machine.open_descriptors() == 0);
}

// Datagrams.

namespace {

struct datagram_ends {
    two_machines in;
    udp_socket to = udp_socket::bind(in.server.io(), in.server.at(9000)).take();
    udp_socket from = udp_socket::bind(in.client.io(), in.client.at(0)).take();
    std::vector<std::string> got;

    // Sends so many, one a millisecond, and receives what comes.
    void exchange(int count, std::size_t size = 8) {
        const auto receive = [&]() -> task<> {
            std::vector<std::byte> space(65'536);
            for (;;) {
                const auto one = co_await with_timeout(1s, to.receive(mutable_buffer{space}));
                if (!one.ok()) co_return;
                got.emplace_back(text_of(const_buffer{space}.first(one.value().size)));
            }
        };
        const auto send = [&]() -> task<> {
            for (int each = 0; each < count; ++each) {
                std::string text = std::to_string(each);
                text.resize(size, '.');
                CHECK((co_await from.send_to(bytes_of(text), in.server.at(9000))).ok());
                static_cast<void>(co_await sleep_for(1ms));
            }
        };
        in.world.start(in.server, receive());
        in.world.start(in.client, send());
        const auto outcome = in.world.run();
        CHECK_MESSAGE(outcome.ok(), outcome.text());
    }
};

}  // namespace

TEST_CASE("datagrams arrive whole, once and in order, if nothing is said") {
    datagram_ends ends;
    ends.exchange(100);
    CHECK(ends.got.size() == 100);
    CHECK(ends.got.front() == "0.......");
    CHECK(ends.got.back() == "99......");
}

TEST_CASE("datagrams are lost, doubled and overtaken in the shares that were asked for") {
    test::link_options bad;
    SUBCASE("lost") {
        bad.loss = 0.5;
        datagram_ends ends;
        ends.in.world.set_links(bad);
        ends.exchange(1000);
        CHECK(ends.got.size() > 400);
        CHECK(ends.got.size() < 600);
    }
    SUBCASE("doubled") {
        bad.duplication = 0.5;
        datagram_ends ends;
        ends.in.world.set_links(bad);
        ends.exchange(1000);
        CHECK(ends.got.size() > 1400);
        CHECK(ends.got.size() < 1600);
    }
    SUBCASE("overtaken") {
        bad.reordering = 0.1;
        datagram_ends ends;
        ends.in.world.set_links(bad);
        ends.exchange(1000);
        CHECK(ends.got.size() == 1000);
        int overtaken = 0;
        for (std::size_t each = 1; each < ends.got.size(); ++each)
            overtaken += std::stoi(ends.got[each]) < std::stoi(ends.got[each - 1]) ? 1 : 0;
        CHECK(overtaken > 30);
    }
    SUBCASE("too long") {
        bad.mtu = 1500;
        datagram_ends ends;
        ends.in.world.set_links(bad);
        ends.exchange(10, 1501);
        CHECK(ends.got.empty());
        ends.exchange(10, 1500);
        CHECK(ends.got.size() == 10);
    }
}

TEST_CASE("a datagram for nobody is told to who has fixed its peer") {
    two_machines in;
    const auto send = [&]() -> task<error> {
        udp_socket from = udp_socket::bind(*io_context::current(), in.client.at(0)).take();
        CHECK(from.connect(in.server.at(9)).ok());
        CHECK((co_await from.send(bytes_of("anyone"))).ok());
        std::array<std::byte, 8> space;
        const auto got = co_await from.receive(mutable_buffer{space});
        co_return got.error();
    };

    CHECK(in.run(send()) == errc::connection_refused);
}

TEST_CASE("a group hears what is sent to it, on each machine that has joined") {
    test::world world;
    const endpoint group{ipv4{{239, 1, 2, 3}}, 5000};
    std::vector<udp_socket> members;
    for (int each = 0; each < 3; ++each) {
        test::machine& machine = world.add("member" + std::to_string(each));
        members.push_back(udp_socket::bind(machine.io(), {ipv4::any(), 5000}).take());
        if (each < 2) CHECK(members.back().join(group).ok());
    }
    std::array<int, 3> heard{};
    const auto listen = [&](std::size_t member) -> task<> {
        std::array<std::byte, 8> space;
        const auto got = co_await with_timeout(1s, members[member].receive(mutable_buffer{space}));
        heard[member] = got.ok() ? 1 : 0;
    };
    for (std::size_t each = 0; each < 3; ++each) world.start(world.at(each), listen(each));
    const auto say = [&]() -> task<> {
        const auto sent = co_await members[2].send_to(bytes_of("all"), group);
        CHECK(sent.ok());
    };
    world.start(world.at(2), say());

    const auto outcome = world.run();

    CHECK_MESSAGE(outcome.ok(), outcome.text());
    CHECK(heard == std::array{1, 1, 0});
}

TEST_CASE("a resolver knows the machines, and a name server that is silent is given up") {
    two_machines in;
    const auto find = [](std::string name) -> task<error> {
        resolver names;
        const auto found = co_await with_timeout(10s, names.resolve(name, "80"));
        co_return found.error();
    };
    CHECK_FALSE(in.run(find("server")));

    // Nobody answers at the address of the name server that the machine is told of.
    in.client.set_settings("/etc/resolv.conf", "nameserver 192.0.2.53\n");
    const time_point began = in.world.now();
    CHECK(in.run(find("elsewhere.example")) == errc::timed_out);
    CHECK(in.world.now() - began == 10s);
}

TEST_CASE("a reader that comes late does not overtake one that waits for the same bytes") {
    test::world world;
    test::machine& machine = world.add("alone");
    auto ends = machine.connected_pair();
    std::string order;
    const auto read = [&](char name) -> task<> {
        std::array<std::byte, 1> space{};
        const auto got = co_await ends.second.read_some(mutable_buffer{space});
        CHECK(got.ok());
        order += name;
        order += text_of(space);
    };
    const auto write_and_read = [&]() -> task<> {
        const auto sent = co_await ends.first.write_some(bytes_of("12"));
        CHECK(sent.ok());
        co_await read('b');
    };
    world.start(machine, read('a'));
    world.start(machine, write_and_read());

    const auto outcome = world.run();

    CHECK_MESSAGE(outcome.ok(), outcome.text());
    CHECK(order == "a1b2");
}

TEST_CASE("what a cut has lost does not arrive before it is sent again") {
    two_machines in;
    in.world.set_links(slow(50ms));
    stream_acceptor acceptor = in.listen();
    std::string got;
    time_point arrived{};
    const auto receive = [&]() -> task<> {
        auto taken = co_await acceptor.accept();
        stream_socket peer = taken.take();
        std::array<std::byte, 8> space;
        const auto some = co_await peer.read_some(mutable_buffer{space});
        CHECK(some.ok());
        arrived = in.world.now();
        got += text_of(const_buffer{space}.first(some.value()));
    };
    in.world.start(in.server, receive());
    time_point began{};
    const auto send = [&]() -> task<> {
        stream_socket to = co_await connected_to(in.where);
        began = in.world.now();
        static_cast<void>(co_await write_all(to, bytes_of("one")));
        static_cast<void>(co_await sleep_for(40ms));
        static_cast<void>(co_await write_all(to, bytes_of("two")));  // Would be there after 90 ms.
        in.world.partition(in.client, in.server);
        static_cast<void>(co_await sleep_for(20ms));
        in.world.heal(in.client, in.server);
        static_cast<void>(co_await sleep_for(1s));
    };

    in.run(send());

    CHECK(got == "onetwo");
    CHECK(arrived - began == 110ms);
}
