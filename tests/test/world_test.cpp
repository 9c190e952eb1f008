// SPDX-License-Identifier: BSL-1.0
//
// Programs in a world behave as programs do, and time costs nothing: see include/gyre/test/world.hpp.
#include <gyre/test/world.hpp>

#include <gyre/io/acceptor.hpp>
#include <gyre/io/backoff.hpp>
#include <gyre/io/connect_to.hpp>
#include <gyre/io/serve.hpp>
#include <gyre/io/signals.hpp>
#include <gyre/runtime/call.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/interval.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

using namespace gyre;
using namespace std::chrono_literals;

namespace {

task<> echo(stream_socket peer) {
    std::array<std::byte, 1024> space;
    for (;;) {
        const auto got = co_await peer.read_some(mutable_buffer{space});
        if (!got.ok()) co_return;
        const auto sent = co_await write_all(peer, const_buffer{space}.first(got.value()));
        if (!sent.ok()) co_return;
    }
}

task<io_result<>> echo_server(endpoint local) {
    auto listening = co_await stream_acceptor::listen(local);
    if (!listening.ok()) co_return listening.error();
    const auto ended = co_await serve(listening.take(), echo);
    co_return ended;
}

task<io_result<std::string>> ask(endpoint where, std::string text) {
    auto connected = co_await stream_socket::connect(where);
    if (!connected.ok()) co_return connected.error();
    stream_socket to = connected.take();
    const auto sent = co_await write_all(to, bytes_of(text));
    if (!sent.ok()) co_return sent.error();
    std::string answer(text.size(), '\0');
    const auto got = co_await read_exactly(to, std::as_writable_bytes(std::span{answer}));
    if (!got.ok()) co_return got.error();
    co_return io_result<std::string>{std::move(answer)};
}

}  // namespace

// Time.

TEST_CASE("an hour of sleep passes at once, and is an hour") {
    test::world world;
    test::machine& machine = world.add("alone");
    const time_point began = world.now();
    const auto real = std::chrono::steady_clock::now();
    const auto rest = []() -> task<io_result<>> {
        const auto slept = co_await sleep_for(1h);
        co_return slept;
    };

    auto outcome = world.run(machine, rest());

    CHECK_MESSAGE(outcome.ok(), outcome.text());
    CHECK(outcome.take().ok());
    CHECK(world.now() - began == 1h);
    CHECK(std::chrono::steady_clock::now() - real < 10s);
}

TEST_CASE("a time-out ends what it is for at its moment and not before") {
    test::world world;
    test::machine& machine = world.add("alone");
    const time_point began = world.now();
    const auto wait = []() -> task<error> {
        event never_set;
        const auto waited = co_await with_timeout(90s, never_set.wait());
        co_return waited.error();
    };

    auto outcome = world.run(machine, wait());

    CHECK(outcome.take() == errc::timed_out);
    CHECK(world.now() - began == 90s);
}

TEST_CASE("ticks come at their moments, each once") {
    test::world world;
    test::machine& machine = world.add("alone");
    std::vector<duration> ticks;
    const auto count = [&]() -> task<> {
        const time_point began = io_context::current()->now();
        interval each{1min};
        for (int tick = 0; tick < 5; ++tick) {
            static_cast<void>(co_await each.tick());
            ticks.push_back(io_context::current()->now() - began);
        }
    };

    auto outcome = world.run(machine, count());

    CHECK_MESSAGE(outcome.ok(), outcome.text());
    REQUIRE(ticks.size() == 5);
    CHECK(ticks.back() - ticks.front() == 4min);
}

TEST_CASE("a protocol that tries again for an hour is tested in milliseconds") {
    test::world world;
    test::machine& server = world.add("server");
    test::machine& client = world.add("client");
    int failures = 0;
    const auto until_answered = [&]() -> task<std::string> {
        backoff retry;
        for (;;) {
            auto answered = co_await ask(server.at(7000), "hello");
            if (answered.ok()) co_return answered.take();
            ++failures;
            static_cast<void>(co_await retry.pause());
        }
    };
    const auto appear_late = [&]() -> task<> {
        static_cast<void>(co_await sleep_for(1h));
        static_cast<void>(co_await echo_server(server.at(7000)));
    };
    const auto real = std::chrono::steady_clock::now();
    const time_point began = world.now();
    world.start(server, appear_late());

    auto outcome = world.run(client, until_answered());
    const auto took = std::chrono::steady_clock::now() - real;

    CHECK_MESSAGE(outcome.ok(), outcome.text());
    CHECK(outcome.take() == "hello");
    CHECK(failures > 100);
    CHECK(world.now() - began >= 1h);
    CHECK(took < 2s);  // A busy machine, and sanitizers; alone it takes a few milliseconds.
    MESSAGE("an hour with ", failures, " failures took ",
            std::chrono::duration_cast<std::chrono::microseconds>(took).count(), " us");
}

TEST_CASE("what can never go on is reported with the place where it waits") {
    test::world world;
    test::machine& machine = world.add("stuck");
    const auto wait = []() -> task<> {
        event never_set;
        static_cast<void>(co_await never_set.wait());
    };

    auto outcome = world.run(machine, wait());

    CHECK(outcome.how() == test::ending::hung);
    CHECK(outcome.text().find("on stuck:") != std::string::npos);
    CHECK(outcome.text().find("world_test.cpp") != std::string::npos);
    CHECK(outcome.text().find("GYRE_TEST_SEED=1") != std::string::npos);
}

TEST_CASE("what goes on without time passing is reported too") {
    test::world_options options;
    options.polls_at_a_moment_max = 20;
    test::world world{options};
    test::machine& machine = world.add("busy");
    bool stop = false;
    const auto spin = [&]() -> task<> {
        while (!stop) {
            const auto slept = co_await sleep_for(0s);
            if (!slept.ok()) co_return;
        }
    };

    auto outcome = world.run(machine, spin());

    CHECK(outcome.how() == test::ending::spun);
}

TEST_CASE("a limit of a run is kept, and the run can go on") {
    test::world world;
    test::machine& machine = world.add("slow");
    bool over = false;
    const auto work = [&]() -> task<> {
        static_cast<void>(co_await sleep_for(10min));
        over = true;
    };
    world.start(machine, work());
    const time_point began = world.now();

    CHECK(world.run(9min).how() == test::ending::time_is_up);
    CHECK(world.now() - began == 9min);
    CHECK_FALSE(over);
    CHECK(world.run().ok());
    CHECK(over);
    CHECK(world.now() - began == 10min);
}

TEST_CASE("a loop that is run by itself takes its world with it") {
    test::world world;
    test::machine& server = world.add("server");
    test::machine& client = world.add("client");
    world.start(server, echo_server(server.at(7000)));
    io_result<std::string> answered;
    const auto question = [&]() -> task<> {
        static_cast<void>(co_await sleep_for(1min));
        answered = co_await ask(server.at(7000), "hello");
    };
    world.start(client, question());

    client.io().run();

    CHECK(answered.value() == "hello");
    CHECK(world.hang().empty());
}

TEST_CASE("a loop that is run by itself and hangs returns and says so") {
    event never_set;
    test::world world;
    test::machine& machine = world.add("stuck");
    const auto wait = [&]() -> task<> { static_cast<void>(co_await never_set.wait()); };
    world.start(machine, wait());

    machine.io().run();

    CHECK(world.hang().find("on stuck:") != std::string::npos);
}

TEST_CASE("what blocks is called when its time is over, and may be taken back before") {
    test::world_options options;
    options.call_length = 30s;
    test::world world{options};
    test::machine& machine = world.add("alone");
    int called = 0;
    const auto work = [&]() -> task<error> {
        const auto first = co_await blocking([&] { return ++called; });
        CHECK(first.value() == 1);
        const auto second = co_await with_timeout(10s, blocking([&] { return ++called; }));
        co_return second.error();
    };
    const time_point began = world.now();

    auto outcome = world.run(machine, work());

    CHECK(outcome.take() == errc::timed_out);
    CHECK(called == 1);
    CHECK(world.now() - began == 40s);
}

TEST_CASE("a post of another thread is waited for as long as was asked, or without a limit") {
    for (const duration patience : {duration{60s}, duration::max()}) {
        event posted;
        test::world_options options;
        options.patience_for_threads = patience;
        test::world world{options};
        test::machine& machine = world.add("alone");
        const auto wait = [&]() -> task<> { static_cast<void>(co_await posted.wait()); };
        world.start(machine, wait());
        std::thread poster{[&] { machine.io().post([&] { posted.set(); }); }};

        machine.io().run();
        poster.join();

        CHECK(world.hang().empty());
    }
}

// Order.

namespace {

// The order in which ten clients are answered first.
std::string order_of(std::uint64_t seed, bool shuffled) {
    test::world_options options;
    options.seed = seed;
    options.shuffled = shuffled;
    test::world world{options};
    test::machine& server = world.add("server");
    world.start(server, echo_server(server.at(7000)));
    CHECK(world.run_for(1ms).ok());  // Let it listen.
    std::string order;
    const auto client = [&](char name) -> task<> {
        const auto answered = co_await ask(server.at(7000), "x");
        CHECK_MESSAGE(answered.ok(), answered.error().message());
        order += name;
    };
    for (char name = 'a'; name < 'k'; ++name) {
        world.start(world.add(std::string(1, name)), client(name));
    }
    const auto outcome = world.run_until([&] { return order.size() == 10; }, 1min);
    CHECK_MESSAGE(outcome.ok(), outcome.text());
    return order;
}

}  // namespace

TEST_CASE("the same seed gives the same order, in every run") {
    CHECK(order_of(1, false) == order_of(2, false));
    CHECK(order_of(7, true) == order_of(7, true));
}

// By whichever compiler, wherever the memory is, and whatever was done before.
TEST_CASE("the order that follows from a seed is the same in every program") {
    CHECK(order_of(1, false) == "abcdefghij");
    CHECK(order_of(7, true) == "fdegcabihj");
    CHECK(order_of(8, true) == "achidfbejg");
    const std::vector<std::string> elsewhere(1000, std::string(100, 'x'));
    CHECK(order_of(7, true) == order_of(7, true));
}

TEST_CASE("another seed gives another order, if it is asked for") {
    std::size_t different = 0;
    for (std::uint64_t seed = 1; seed <= 8; ++seed)
        different += order_of(seed, true) != order_of(seed + 100, true) ? 1U : 0U;

    CHECK(different >= 6);
}

TEST_CASE("a world that ends stops what still runs in it, and nothing stays open") {
    int ended = 0;
    const auto hold = [&ended](endpoint where) -> task<> {
        auto connected = co_await stream_socket::connect(where);
        stream_socket to = connected.take();
        std::array<std::byte, 4> space;
        const auto got = co_await to.read_some(mutable_buffer{space});
        CHECK(got.error() == errc::canceled);
        ++ended;
    };
    {
        test::world world;
        test::machine& server = world.add("server");
        test::machine& client = world.add("client");
        world.start(server, echo_server(server.at(7000)));
        world.start(client, hold(server.at(7000)));
        CHECK(world.run_for(1h).ok());
        CHECK(world.open_descriptors() > 0);
    }
    CHECK(ended == 1);
}

TEST_CASE("the machines of a world know each other by name") {
    test::world world;
    test::machine& server = world.add("server");
    test::machine& client = world.add("client");
    world.start(server, echo_server({ipv6::any(), 7000}));
    const auto by_name = []() -> task<error> {
        auto connected = co_await connect_to("server", "7000");
        if (!connected.ok()) co_return connected.error();
        co_return error{};
    };

    auto outcome = world.run(client, by_name());

    CHECK_MESSAGE(outcome.ok(), outcome.text());
    CHECK_FALSE(outcome.take());
}

TEST_CASE("no signals come to a machine of a world, and its programs are told so") {
    test::world w;
    test::machine& alone = w.add("alone");

    const auto opened = signal_set::open(alone.io(), {SIGHUP});

    CHECK(opened.error() == errc::not_supported);
}
