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
#include <test/two_machines.hpp>

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

task<io_result<stream_socket>> connect(endpoint where) {
    auto connected = co_await stream_socket::connect(where);
    co_return connected;
}

void check_refused(const char* text, void (*use)()) {
    INFO(std::string{text});
    const ending how = ending_of(use);
    CHECK(how.signal == SIGABRT);
    CHECK_MESSAGE(how.said_that(text), how.said);
}

template <class Change>
void add_machine(const Change& change) {
    test::machine_options options;
    change(options);
    test::world world;
    world.add("odd", options);
}

template <class Change>
void set_links(const Change& change) {
    test::link_options options;
    change(options);
    test::world world;
    world.set_links(options);
}

}  // namespace

// Options.

TEST_CASE("a machine that there cannot be is a failed check, which says why") {
    using options = test::machine_options;
    check_refused("a machine has room for descriptors",
                  [] { add_machine([](options& it) { it.descriptors_max = -1; }); });
    check_refused("a socket has room for bytes",
                  [] { add_machine([](options& it) { it.send_buffer = 0; }); });
    check_refused("a socket has room for bytes",
                  [] { add_machine([](options& it) { it.receive_buffer = 0; }); });
    check_refused("a backlog is no less than none",
                  [] { add_machine([](options& it) { it.backlog_connections_max = -1; }); });
    check_refused("a time is no less than none",
                  [] { add_machine([](options& it) { it.connect_limit = -1s; }); });
    check_refused("a time is no less than none",
                  [] { add_machine([](options& it) { it.silence_limit = -1s; }); });
}

TEST_CASE("a link that there cannot be is a failed check, which says why") {
    using options = test::link_options;
    check_refused("a time is no less than none",
                  [] { set_links([](options& it) { it.latency = -1ns; }); });
    check_refused("a time is no less than none",
                  [] { set_links([](options& it) { it.jitter = -1ns; }); });
    check_refused("a time is no less than none",
                  [] { set_links([](options& it) { it.reordering_delay = -1ns; }); });
    check_refused("a chance is from 0 to 1", [] { set_links([](options& it) { it.loss = 1.5; }); });
    check_refused("a chance is from 0 to 1", [] {
        set_links([](options& it) { it.duplication = std::numeric_limits<double>::quiet_NaN(); });
    });
    check_refused("a chance is from 0 to 1",
                  [] { set_links([](options& it) { it.reordering = -0.1; }); });
    check_refused("a chance is from 0 to 1", [] {
        two_machines in;
        test::link_options odd;
        odd.loss = 2;
        in.world.set_one_way(in.server, in.client, odd);
    });
}

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
    const auto write = [&]() -> task<> {
        CHECK((co_await write_all(ends.first, bytes_of(sent))).ok());
    };
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
            const auto written = co_await write_all(ends.first, const_buffer{piece});
            if (!written.ok()) co_return;
        }
    };
    const std::size_t before = memory_in_use();
    world.start(machine, read());
    world.start(machine, write());

    const auto outcome = world.run();

    CHECK_MESSAGE(outcome.ok(), outcome.text());
    if (recycles_memory) CHECK(most - before < 2'000'000);  // Else malloc is not asked.
}

// Runs.

TEST_CASE("a run in which time passes and nothing ends is ended, and told") {
    test::world_options options;
    options.steps_of_a_run_max = 1000;
    test::world world{options};
    test::machine& machine = world.add("patient");
    const auto wait = []() -> task<> {
        for (;;) {
            const auto slept = co_await sleep_for(1s);
            if (!slept.ok()) co_return;
        }
    };

    auto outcome = world.run(machine, wait());

    CHECK(outcome.how() == test::ending::endless);
    CHECK(outcome.text().find("steps_of_a_run_max") != std::string::npos);
    CHECK(outcome.text().find("world_limits_test.cpp") != std::string::npos);
    CHECK(world.run_for(100s).ok());  // The next run counts for itself.
}

TEST_CASE("a loop that is run by itself returns when others go on and on without time passing") {
    event never_set;
    test::world_options options;
    options.polls_at_a_moment_max = 20;
    test::world world{options};
    test::machine& waiting = world.add("waiting");
    test::machine& busy = world.add("busy");
    const auto wait = [&]() -> task<> { static_cast<void>(co_await never_set.wait()); };
    const auto spin = []() -> task<> {
        for (;;) {
            const auto slept = co_await sleep_for(0s);
            if (!slept.ok()) co_return;
        }
    };
    world.start(waiting, wait());
    world.start(busy, spin());

    waiting.io().run();

    CHECK(world.hang().find("no time passes") != std::string::npos);
    CHECK(world.hang().find("on busy:") != std::string::npos);
}

TEST_CASE("a run of unlimited length leaves a clock that can go on") {
    two_machines in;
    CHECK(in.world.run_for(duration::max()).ok());

    const auto rest = []() -> task<io_result<>> {
        const auto slept = co_await sleep_for(1s);
        co_return slept;
    };
    auto outcome = in.world.run(in.client, rest());

    CHECK_MESSAGE(outcome.ok(), outcome.text());
    CHECK(outcome.take().ok());
}

TEST_CASE("a task that heeds no stop ends its run's process, and where it stands is told") {
    const ending how = ending_of([] {
        event never_set;
        test::world world;
        test::machine& machine = world.add("deaf");
        const auto wait = [&]() -> task<> {
            static_cast<void>(co_await shielded(never_set.wait(), duration::max()));
        };
        static_cast<void>(world.run(machine, wait(), 1min));
    });

    CHECK(how.signal == SIGABRT);
    CHECK(how.said_that("a task does not end when it is stopped"));
    CHECK_MESSAGE(how.said_that("world_limits_test.cpp"), how.said);
}

TEST_CASE("what runs in a world does not step it") {
    check_refused("a world is not run by what runs in it", [] {
        two_machines in;
        const auto step = [&]() -> task<> {
            static_cast<void>(in.world.step());
            co_return;
        };
        static_cast<void>(in.world.run(in.client, step()));
    });
}

TEST_CASE("a world runs on its own machines only") {
    check_refused("a machine of this world", [] {
        two_machines in;
        test::world other;
        static_cast<void>(other.run(in.client, connect(in.where)));
    });
    check_refused("a machine of this world", [] {
        two_machines in;
        test::world other;
        other.partition(in.client, in.server);
    });
}

TEST_CASE("two worlds, each in a thread of its own, are the same as one after the other") {
    const auto hour = [](time_point& ended) {
        test::world world;
        test::machine& machine = world.add("alone");
        const auto rest = []() -> task<> { static_cast<void>(co_await sleep_for(1h)); };
        const time_point began = world.now();
        static_cast<void>(world.run(machine, rest()).ok());
        ended = time_point{world.now() - began};
    };
    time_point one;
    time_point other;
    std::thread beside{[&] { hour(other); }};
    hour(one);
    beside.join();

    CHECK(one == time_point{1h});
    CHECK(other == one);
}

TEST_CASE("two worlds in one thread have clocks of their own") {
    two_machines one;
    two_machines other;
    CHECK(one.world.run_for(1h).ok());
    CHECK(other.world.run_for(1s).ok());

    CHECK(one.world.now() - other.world.now() == 1h - 1s);
}

// Threads.

TEST_CASE("a run waits for a post of another thread as long as was asked") {
    for (const duration patience : {duration{60s}, duration::max()}) {
        event posted;
        test::world_options options;
        options.patience_for_threads = patience;
        test::world world{options};
        test::machine& machine = world.add("alone");
        const auto wait = [&]() -> task<> { static_cast<void>(co_await posted.wait()); };
        std::thread poster{[&] {
            std::this_thread::yield();
            machine.io().post([&] { posted.set(); });
        }};

        const auto outcome = world.run(machine, wait());
        poster.join();

        CHECK_MESSAGE(outcome.ok(), outcome.text());
    }
}

// Ends.

TEST_CASE("what a machine that has ended was to be called for is not called") {
    int called = 0;
    {
        test::world_options options;
        options.call_length = 30s;
        test::world world{options};
        test::machine& first = world.add("first");
        test::machine& second = world.add("second");
        const auto call = [&]() -> task<> {
            static_cast<void>(co_await blocking([&] { return ++called; }));
        };
        const auto say_goodbye = []() -> task<> {
            static_cast<void>(co_await shielded(sleep_for(1min), 1h));
        };
        world.start(first, call());
        world.start(second, say_goodbye());
        CHECK(world.run_for(1s).ok());
    }  // A minute passes here.
    CHECK(called == 0);
}

TEST_CASE("a socket that outlives its world is a failed check") {
    check_refused("what was opened in a world is closed before it ends", [] {
        udp_socket kept;
        test::world world;
        test::machine& machine = world.add("gone");
        kept = udp_socket::bind(machine.io(), machine.at(0)).take();
    });
}

TEST_CASE("numbers that nobody owns leave no memory behind when their world ends") {
    test::world world;
    test::machine& machine = world.add("careless");
    auto ends = machine.connected_pair();
    CHECK(ends.first.release() >= 3);
    CHECK(ends.second.release() >= 3);
    CHECK(machine.open_descriptors() == 2);
}
