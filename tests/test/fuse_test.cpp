// SPDX-License-Identifier: BSL-1.0
//
// Each operation fails once with each error, and what it leads to is seen: see include/gyre/test/fuse.hpp.
#include <gyre/test/fuse.hpp>

#include <support/harness.hpp>
#include <support/scratch_directory.hpp>
#include <support/settle.hpp>
#include <support/skip.hpp>

#include <base/ending.hpp>
#include <gyre/base/build.hpp>
#include <gyre/io/acceptor.hpp>
#include <gyre/io/file.hpp>
#include <gyre/io/run.hpp>
#include <gyre/io/stream_socket.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/test/backend_laws.hpp>
#include <gyre/test/world.hpp>

#include <doctest/doctest.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <set>
#include <string>
#include <thread>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

task<io_result<>> greet(endpoint where) {
    auto connected = co_await stream_socket::connect(where);
    if (!connected.ok()) co_return connected.error();
    stream_socket to = connected.take();
    const auto sent = co_await write_all(to, bytes_of("hello"));
    co_return sent.error();
}

// Greets a listener that only listens; `finish(error)` says what is wrong about the outcome.
template <class Finish>
std::string greet_with(test::fuse& fault, const Finish& finish) {
    test::world world;
    test::machine& server = world.add("server");
    test::machine& client = world.add("client");
    const auto listening = stream_acceptor::listen(server.io(), server.at(7000));
    client.set_fuse(&fault);
    auto outcome = world.run(client, greet(server.at(7000)));
    if (!outcome.ok()) return outcome.text();
    if (client.open_descriptors() != 0) return "something is open";
    const io_result<> ended = outcome.take();
    return finish(ended.error());
}

}  // namespace

TEST_CASE("a fuse fails one operation, counts all, and tells which") {
    test::fuse fault{3, 1};
    const auto run = [&] { return greet_with(fault, [](error) { return std::string{}; }); };

    CHECK(run().empty());

    CHECK(fault.blown());
    CHECK(fault.text().starts_with("operation 3, connect: "));
    CHECK(fault.fault() == test::errors_of(opcode::connect)[1]);
}

TEST_CASE("every operation of a scenario fails with every error, and each comes out") {
    std::set<std::string> met;
    const auto report = test::fail_each([&](test::fuse& fault) {
        return greet_with(fault, [&](error ended) -> std::string {
            met.insert(fault.text());
            return ended == fault.fault() ? "" : "the error was swallowed";
        });
    });

    CHECK_MESSAGE(report.ok(), report.text());
    // A socket, its option, the connection and its address, the bytes.
    const std::size_t wanted =
        3 + 1 + test::errors_of(opcode::connect).size() + 1 + test::errors_of(opcode::send).size();
    CHECK(report.faults() == wanted);
    CHECK(met.size() == wanted + 1);
}

TEST_CASE("a scenario that hangs after a fault is told, and which fault it was") {
    const auto report = test::fail_each([](test::fuse& fault) {
        event never_set;
        test::world world;
        test::machine& server = world.add("server");
        test::machine& client = world.add("client");
        const auto listening = stream_acceptor::listen(server.io(), server.at(7000));
        client.set_fuse(&fault);
        const auto forgetful = [&]() -> task<> {
            const auto done = co_await greet(server.at(7000));
            if (!done.ok()) static_cast<void>(co_await never_set.wait());
        };
        const auto outcome = world.run(client, forgetful());
        return outcome.text();
    });

    CHECK_FALSE(report.ok());
    CHECK(report.text().find("operation 1, open: ") != std::string::npos);
    CHECK(report.text().find("nothing can go on") != std::string::npos);
}

TEST_CASE("memory that a failed run leaves behind is found") {
    static std::vector<std::vector<char>*> lost;
    lost.reserve(256);
    const auto report = test::fail_each([](test::fuse& fault) {
        return greet_with(fault, [&](error ended) {
            if (ended) lost.push_back(new std::vector<char>(1000));
            return std::string{};
        });
    });

    if (recycles_memory) CHECK(report.text().find("bytes of memory are left") != std::string::npos);
    for (const auto* each : lost) delete each;
    lost.clear();
}

TEST_CASE("a scenario that fails without a fault is not gone on with") {
    int runs = 0;
    const auto report = test::fail_each([&](test::fuse&) {
        ++runs;
        return std::string{"always wrong"};
    });

    CHECK(report.text() == "without a fault: always wrong\n");
    CHECK(runs == 1);
}

TEST_CASE("a scenario without an end is given up") {
    const auto report = test::fail_each(
        [](test::fuse& fault) {
            for (int each = 0; each < 100; ++each) {
                const receive_operation op{mutable_buffer{}};
                static_cast<void>(fault.burn(op));
            }
            return std::string{};
        },
        10);

    CHECK(report.text() == "more than 10 operations\n");
}

// On the kernel's own backends.

namespace {

// Opens a listener, connects to it, and says hello.
task<io_result<>> greet_oneself() {
    auto listening = co_await stream_acceptor::listen(endpoint{ipv4::loopback(), 0});
    if (!listening.ok()) co_return listening.error();
    stream_acceptor acceptor = listening.take();
    const auto where = acceptor.local_endpoint();
    if (!where.ok()) co_return where.error();
    const auto greeted = co_await greet(where.value());
    if (!greeted.ok()) co_return greeted;
    auto accepted = co_await acceptor.accept();
    if (!accepted.ok()) co_return accepted.error();
    stream_socket from = accepted.take();
    std::array<std::byte, 5> space;
    const auto heard = co_await read_exactly(from, space);
    co_return heard.error();
}

}  // namespace

TEST_CASE("under a fuse every operation fails on each of the kernel's backends as well") {
    with_every_backend([](const io_context_options& options) {
        std::set<std::string> met;
        const auto report = test::fail_each([&](test::fuse& fault) -> std::string {
            const test::fused_loops under{fault};
            const io_result<> ended = run(greet_oneself(), options);
            met.insert(fault.text());
            return ended.error() == fault.fault() ? "" : ended.error().message();
        });

        CHECK_MESSAGE(report.ok(), report.text());
        CHECK(report.faults() + 1 == met.size());
        for (const char* each : {"open", "bind", "listen", "connect", "accept", "write", "read"}) {
            CAPTURE(each);
            CHECK(std::any_of(met.begin(), met.end(), [&](const std::string& text) {
                return text.find(std::string{", "} + each + ": ") != std::string::npos;
            }));
        }
    });
}

TEST_CASE("a loop under a fuse keeps the laws of backends, and counts as it does without") {
    for (const backend_choice choice : backends_under_test()) {
        io_context_options options;
        options.backend = choice;
        test::fuse none;
        std::uint64_t visits = 0;
        test::backend_under_test judged;
        judged.with_loop = [&](const std::function<void(io_context&)>& use) {
            const test::fused_loops under{none};
            io_context loop{options};
            CHECK(loop.backend().kind == choice);
            use(loop);
            visits += loop.counters().visits;
        };
        for (const auto& law : test::backend_laws()) {
            const std::string broken = test::judge(law, judged);
            CHECK_MESSAGE(broken.empty(), law.name, ": ", broken);
        }
        CHECK(none.counted() > 0);
        CHECK(visits > 0);
    }
}

TEST_CASE("what files are asked for fails on a worker and in a ring") {
    // Not in the call: g++ 12 warns of what it makes of moving it.
    static const std::string readable = "/proc/self/status";
    with_every_backend([](const io_context_options& options) {
        const auto report = test::fail_each([&](test::fuse& fault) -> std::string {
            const test::fused_loops under{fault};
            const auto body = []() -> task<io_result<>> {
                auto opened = co_await file::open(readable);
                if (!opened.ok()) co_return opened.error();
                file it = opened.take();
                std::array<std::byte, 16> space;
                const auto got = co_await it.read_some_at(0, space);
                co_return got.error();
            };
            const io_result<> ended = run(body(), options);
            return ended.error() == fault.fault() ? "" : ended.error().message();
        });

        CHECK_MESSAGE(report.ok(), report.text());
        CHECK(report.operations() == 2);
    });
}

TEST_CASE("reads of what the page cache holds fail as others do") {
    const scratch_directory home;
    const std::string name = home.put("it", "content");
    with_every_backend([&](const io_context_options& options) {
        std::set<std::string> met;
        const auto report = test::fail_each([&](test::fuse& fault) -> std::string {
            const test::fused_loops under{fault};
            const auto body = [](std::string path) -> task<io_result<>> {
                auto opened = co_await file::open(std::move(path));
                if (!opened.ok()) co_return opened.error();
                file it = opened.take();
                std::array<std::byte, 16> space;
                const auto got = co_await it.read_some(space);
                co_return got.error();
            };
            const io_result<> ended = run(body(name), options);
            met.insert(fault.text());
            return ended.error() == fault.fault() ? "" : ended.error().message();
        });

        CHECK_MESSAGE(report.ok(), report.text());
        CHECK(report.operations() == 2);
        CHECK(met.contains("operation 2, read: Input/output error"));
    });
}

TEST_CASE("a descriptor that a failed run leaves open is found") {
    static std::vector<int> lost;
    const auto report = test::fail_each([](test::fuse& fault) -> std::string {
        const test::fused_loops under{fault};
        const io_result<> ended = run(greet_oneself());
        // One kind of failure will do: each is looked at many times.
        if (ended.error() == errc::process_descriptors_exhausted) lost.push_back(::dup(0));
        return {};
    });

    CHECK(report.text().find("descriptors are left open") != std::string::npos);
    for (const int each : lost) ::close(each);
    lost.clear();
}

TEST_CASE("a loop that can never go on after a fault ends the process, and says after which") {
    if (signals_come_late)
        return skip("under the thread sanitizer loops wake before a patience ends");
    const ending hung = ending_of([] {
        test::fuse fault{1, 0};
        const test::fused_loops under{fault, 50ms};
        event never_set;
        const auto forgetful = [&]() -> task<> {
            const auto done = co_await greet_oneself();
            if (!done.ok()) static_cast<void>(co_await never_set.wait());
        };
        run(forgetful());
    });

    CHECK(hung.signal == SIGABRT);
    CHECK(hung.said_that("a loop hangs after operation 1, open: "));
    CHECK(hung.said_that("fuse_test.cpp"));  // Where it waits.
}

TEST_CASE("instead of a fault something else may happen as an operation begins") {
    int times = 0;
    test::fuse it{2, [&] { ++times; }};
    const test::fused_loops under{it};

    const io_result<> ended = run(greet_oneself());

    CHECK(ended.ok());
    CHECK(times == 1);
    CHECK(it.blown());
    CHECK(it.text() == "operation 2");
    CHECK_FALSE(it.has_more_errors());
}

TEST_CASE("a loop that is older than a fuse goes on without it when it changes its backend") {
    io_context_options options;
    options.backend = backend_choice::epoll;
    io_context older{options};
    const ending child = ending_of([&] {
        test::fuse fault{1, 0};
        const test::fused_loops under{fault};
        event posted;
        const auto work = [&]() -> task<> {
            static_cast<void>(co_await posted.wait());  // A sleep without a deadline.
            const auto greeted = co_await greet_oneself();
            expects(greeted.ok(), "nothing fails");
        };
        launch(older, work(), or_terminate{});
        std::atomic<bool> ran = false;
        std::thread poster{[&] {
            static_cast<void>(eventually([&] { return ran && older.asleep(); }));
            older.post([&] { posted.set(); });
        }};
        older.post([&] { ran = true; });
        older.run();
        poster.join();
    });

    CHECK(child.signal == 0);
    CHECK_MESSAGE(child.said.empty(), child.said);
}

TEST_CASE("a run that goes wrong without its fault is told as well") {
    int runs = 0;
    const auto report = test::fail_each([&](test::fuse& fault) -> std::string {
        const receive_operation op{mutable_buffer{}};
        static_cast<void>(fault.burn(op));
        return ++runs == 6 ? "wrong by chance" : "";  // After four faults of the one operation.
    });

    CHECK(report.text() == "without a fault: wrong by chance\n");
}

TEST_CASE("a run that has fewer operations than others leaves out none of theirs") {
    std::size_t runs = 0;
    const std::size_t errors = test::errors_of(opcode::receive).size();
    const auto report = test::fail_each([&](test::fuse& fault) -> std::string {
        const bool second = ++runs == 1 + errors + 1;  // Without fault, the first one's, and then.
        for (int each = 0; each < (second ? 1 : 3); ++each) {
            const receive_operation op{mutable_buffer{}};
            static_cast<void>(fault.burn(op));
        }
        return {};
    });

    CHECK(report.ok());
    CHECK(report.operations() == 3);
    CHECK(report.faults() == 2 * errors);
}

TEST_CASE("connections that a test makes for itself do not fail") {
    const auto report = test::fail_each([](test::fuse& fault) -> std::string {
        test::world world;
        test::machine& machine = world.add("alone");
        machine.set_fuse(&fault);
        auto ends = machine.connected_pair();
        const auto say = [&]() -> task<error> {
            const auto sent = co_await ends.first.write_some(bytes_of("hello"));
            co_return sent.error();
        };
        auto outcome = world.run(machine, say());
        if (!outcome.ok()) return outcome.text();
        return outcome.take() == fault.fault() ? "" : "another error";
    });

    CHECK_MESSAGE(report.ok(), report.text());
    CHECK(report.operations() == 1);
}
