// SPDX-License-Identifier: BSL-1.0
//
// Each operation fails once with each error, and what it leads to is seen: see include/gyre/test/fuse.hpp.
#include <gyre/test/fuse.hpp>

#include <gyre/base/build.hpp>
#include <gyre/io/acceptor.hpp>
#include <gyre/io/stream_socket.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/test/world.hpp>

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <set>
#include <string>
#include <vector>

using namespace gyre;
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
    // A socket, its option, the connection, the bytes.
    const std::size_t wanted =
        3 + 1 + test::errors_of(opcode::connect).size() + test::errors_of(opcode::send).size();
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
