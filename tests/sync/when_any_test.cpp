// SPDX-License-Identifier: BSL-1.0
//
// What gyre/sync/when_any.hpp promises. waiting_laws_test.cpp has the rest of how it is stopped.
#include <gyre/sync/when_any.hpp>

#include <gyre/sync/channel.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <support/conformance.hpp>
#include <support/long_run.hpp>
#include <support/waiting_laws.hpp>

#include <array>
#include <memory>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

constexpr auto very_long = std::chrono::hours{24};

task<int> number_later(int value) {
    co_await settle();
    co_return value;
}

task<io_result<int>> count_until_stopped(int& ended) {
    int count = 0;
    for (;;) {
        ++count;
        const io_result<> slept = co_await sleep_for(1ms);
        if (!slept.ok()) break;
    }
    ++ended;
    co_return io_result<int>{errc::canceled, count};
}

}  // namespace

TEST_CASE("the first to end wins, the others are stopped and awaited") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        int ended = 0;

        auto first =
            co_await when_any(count_until_stopped(ended), number_later(7), sleep_for(very_long));

        CHECK(first.winner == 1);
        CHECK(std::get<1>(first.results) == 7);
        CHECK(std::get<0>(first.results).error() == errc::canceled);
        CHECK(std::get<0>(first.results).value() >= 1);
        CHECK(std::get<2>(first.results).error() == errc::canceled);
        CHECK(ended == 1);
    });
}

TEST_CASE("a branch that ends at once wins, and those behind it begin stopped") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        event set;
        set.set();
        event unset;

        const auto first = co_await when_any(unset.wait(), set.wait(), set.wait());

        CHECK(first.winner == 1);
        CHECK(std::get<0>(first.results).error() == errc::canceled);
        CHECK(std::get<1>(first.results).ok());
        CHECK(std::get<2>(first.results).error() == errc::canceled);
    });
}

TEST_CASE("an end with an error is an end, too") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        channel<int> closed{1};
        closed.close();
        event unset;

        const auto first = co_await when_any(unset.wait(), closed.receive());

        CHECK(first.winner == 1);
        CHECK(std::get<1>(first.results).error() == errc::closed);
    });
}

TEST_CASE("what a loser achieved in the same turn is reported") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        channel<int> left{1};
        channel<int> right{1};
        const auto both = [&]() -> task<> {
            co_await settle();
            int value = 1;
            CHECK(left.try_send(value));
            CHECK(right.try_send(value));
        };
        io_result<int> from_left;
        io_result<int> from_right;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(both());
            const auto first = co_await when_any(left.receive(), right.receive());
            CHECK(first.winner == 0);
            from_left = std::get<0>(first.results);
            from_right = std::get<1>(first.results);
        };

        co_await with_group(body);

        CHECK(from_left.value() == 1);
        CHECK(from_right.ok());
        CHECK(from_right.value() == 1);
    });
}

TEST_CASE("bytes that a losing read has read are reported, and none is lost") {
    on_each_backend_of("coordination", [](io_context& io) -> task<> {
        auto [client, server] = connected_pair(io);
        std::size_t received = 0;
        for (int round = 0; round < 200; ++round) {
            std::array<std::byte, 4> space;
            const auto writes = [&]() -> task<io_result<std::size_t>> {
                const io_result<std::size_t> sent = co_await client.write_some(bytes_of("abcd"));
                co_return sent;
            };
            // Both may end in the same turn; whichever wins, the bytes arrive once.
            const auto first = co_await when_any(writes(), server.read_some(space));
            CHECK(std::get<0>(first.results).value() == 4);
            received += std::get<1>(first.results).value();
            while (received < 4 * (static_cast<std::size_t>(round) + 1)) {
                const io_result<std::size_t> rest = co_await server.read_some(space);
                received += rest.value();
            }
        }
        CHECK(received == 800);
    });
}

TEST_CASE("any of something moves before it starts, and disappears if it is never awaited") {
    auto witness = std::make_shared<int>(1);
    const auto test = [&](io_context&) -> task<> {
        const auto holds = [](std::shared_ptr<int> held) -> task<int> { co_return *held; };
        auto made = when_any(holds(witness), number_later(2));
        auto moved = std::move(made);
        const auto never_awaited = when_any(holds(witness));

        const auto first = co_await std::move(moved);

        CHECK(first.winner == 0);
        CHECK(std::get<0>(first.results) == 1);
    };
    on_each_backend_of("coordination", test);

    CHECK(witness.use_count() == 1);
}

TEST_CASE("of a vector, too, the first to end wins, and every result comes back") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        channel<int> values{1};
        std::vector<channel<int>::receive_awaiter> waits;
        channel<int> others{1};
        for (int each = 0; each < 3; ++each) waits.push_back(others.receive());
        waits.push_back(values.receive());
        const auto sends = [&]() -> task<> {
            co_await settle();
            int value = 7;
            CHECK(values.try_send(value));
            CHECK(others.try_send(value));
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(sends());
            const auto first = co_await when_any(std::move(waits));

            CHECK(first.winner == 3);
            REQUIRE(first.results.size() == 4);
            CHECK(first.results[3].value() == 7);
            CHECK(first.results[0].value() == 7);
            CHECK(first.results[1].error() == errc::canceled);
            CHECK(first.results[2].error() == errc::canceled);
        };

        co_await with_group(body);
    });
}

TEST_CASE("of a vector of tasks one that ends at once wins, and those behind it begin stopped") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        event unset;
        int stopped = 0;
        const auto waits = [&]() -> task<int> {
            const io_result<> waited = co_await unset.wait();
            if (waited.error() == errc::canceled) ++stopped;
            co_return 1;
        };
        const auto ends = []() -> task<int> { co_return 2; };
        std::vector<task<int>> each;
        each.push_back(waits());
        each.push_back(ends());
        each.push_back(waits());

        const auto first = co_await when_any(std::move(each));

        CHECK(first.winner == 1);
        CHECK(first.results == std::vector{1, 2, 1});
        CHECK(stopped == 2);
    });
}

TEST_CASE("results that are tuples or only move come back as they are, also of a race") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        const auto pair = []() -> task<std::pair<int, int>> { co_return std::pair{1, 2}; };
        const auto pointer = []() -> task<std::unique_ptr<int>> {
            co_return std::make_unique<int>(4);
        };

        const auto one_pair = co_await when_any(pair());
        auto pointers = co_await when_any(pointer(), pointer());

        CHECK(std::get<0>(one_pair.results) == std::pair{1, 2});
        CHECK(*std::get<0>(pointers.results) == 4);
    });
}

TEST_CASE(
    "a stop that one racer asks for, before all have begun, reaches those that wait already") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        event unset;
        error outcome;
        const auto body = [&](task_group& group) -> task<> {
            const auto stops = [&]() -> task<> {
                group.request_stop();
                static_cast<void>(co_await shielded(sleep_for(100ms), very_long));
            };
            const auto child = [&]() -> task<> {
                const auto first = co_await when_any(with_timeout(50ms, unset.wait()), stops());
                outcome = std::get<0>(first.results).error();
            };
            group.spawn(child());
            co_await group.join();
        };

        co_await with_group(body);

        CHECK(outcome == errc::canceled);
    });
}

TEST_CASE("many races that end at once need no stack") {
    in_a_long_run([](io_context&) -> task<> {
        event ready;
        ready.set();
        std::size_t won_by_first = 0;

        for (int time = 0; time < many_steps; ++time) {
            const auto first = co_await when_any(ready.wait(), ready.wait());
            if (first.winner == 0) ++won_by_first;
        }

        CHECK(won_by_first == many_steps);
    });
}
