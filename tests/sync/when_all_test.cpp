// SPDX-License-Identifier: BSL-1.0
//
// What gyre/sync/when_all.hpp promises. waiting_laws_test.cpp has the rest of how it is stopped.
#include <gyre/sync/when_all.hpp>

#include <base/ending.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/when_any.hpp>
#include <support/conformance.hpp>
#include <support/disposable.hpp>
#include <support/long_run.hpp>
#include <support/waiting_laws.hpp>

#include <array>
#include <csignal>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

constexpr auto very_long = std::chrono::hours{24};

task<int> number(int value) { co_return value; }

task<int> number_later(int value) {
    co_await settle();
    co_return value;
}

task<> nothing_at_all() { co_return; }

task<io_result<>> fail_later(errc code) {
    co_await settle();
    co_return code;
}

task<io_result<int>> count_until_stopped(event& stopped_by) {
    const io_result<> waited = co_await stopped_by.wait();
    co_return io_result<int>{waited.error(), 5};
}

}  // namespace

TEST_CASE("all results come back in order, whichever ended first") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        const auto results =
            co_await when_all(number_later(1), number(2), nothing_at_all(), number_later(3));

        CHECK(std::get<0>(results) == 1);
        CHECK(std::get<1>(results) == 2);
        CHECK(std::get<2>(results) == nothing{});
        CHECK(std::get<3>(results) == 3);
    });
}

TEST_CASE("leaf awaitables are awaited together without tasks around them") {
    on_each_backend_of("coordination", [](io_context& io) -> task<> {
        auto [client, server] = local_pair(io);
        std::array<std::byte, 8> space;

        const auto results = co_await when_all(
            server.read_some(space), client.write_some(bytes_of("hello")), sleep_for(1ms));

        CHECK(std::get<0>(results).value() == 5);
        CHECK(std::get<1>(results).value() == 5);
        CHECK(std::get<2>(results).ok());
        CHECK(text_of(std::span{space}.first(5)) == "hello");
    });
}

TEST_CASE("a number known only at run time is awaited as a vector, even none") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        std::vector<task<int>> tasks;
        for (int value = 0; value < 100; ++value) tasks.push_back(number_later(value));

        const std::vector<int> results = co_await when_all(std::move(tasks));
        const std::vector<int> none = co_await when_all(std::vector<task<int>>{});

        CHECK(results.size() == 100);
        CHECK(results[42] == 42);
        CHECK(none.empty());
    });
}

TEST_CASE("awaiting all of nothing goes on at once") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        const std::tuple<> none = co_await when_all();

        CHECK(none == std::tuple<>{});
    });
}

TEST_CASE("the first failure stops the others, and every result is there") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        event unset;

        const auto results = co_await when_all(count_until_stopped(unset), fail_later(errc::eof),
                                               sleep_for(very_long));

        CHECK(std::get<0>(results).error() == errc::canceled);
        CHECK(std::get<0>(results).value() == 5);
        CHECK(std::get<1>(results).error() == errc::eof);
        CHECK(std::get<2>(results).error() == errc::canceled);
    });
}

TEST_CASE("a failure before the others have begun stops them before they start") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        event unset;
        const auto fails_at_once = []() -> task<io_result<>> { co_return errc::malformed; };

        const auto results = co_await when_all(fails_at_once(), unset.wait());

        CHECK(std::get<0>(results).error() == errc::malformed);
        CHECK(std::get<1>(results).error() == errc::canceled);
    });
}

TEST_CASE("a failure in a vector stops the others") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        std::vector<task<io_result<>>> tasks;
        event unset;
        const auto waits = [&]() -> task<io_result<>> {
            const io_result<> waited = co_await unset.wait();
            co_return waited;
        };
        tasks.push_back(waits());
        tasks.push_back(fail_later(errc::eof));
        tasks.push_back(waits());

        const std::vector<io_result<>> results = co_await when_all(std::move(tasks));

        CHECK(results[0].error() == errc::canceled);
        CHECK(results[1].error() == errc::eof);
        CHECK(results[2].error() == errc::canceled);
    });
}

TEST_CASE("results that are tuples or only move come back as they are") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        const auto pair = []() -> task<std::pair<int, int>> { co_return std::pair{1, 2}; };
        const auto tuple = []() -> task<std::tuple<int>> { co_return std::tuple{3}; };
        const auto pointer = []() -> task<std::unique_ptr<int>> {
            co_return std::make_unique<int>(4);
        };

        const std::tuple<std::pair<int, int>> one_pair = co_await when_all(pair());
        const std::tuple<std::tuple<int>> one_tuple = co_await when_all(tuple());
        const auto pointers = co_await when_all(pointer(), pointer());

        CHECK(std::get<0>(one_pair) == std::pair{1, 2});
        CHECK(std::get<0>(one_tuple) == std::tuple{3});
        CHECK(*std::get<1>(pointers) == 4);
    });
}

TEST_CASE("all of something moves before it starts") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        auto made = when_all(number(1), number_later(2));
        auto moved = std::move(made);

        const std::tuple<int, int> results = co_await std::move(moved);

        CHECK(results == std::tuple{1, 2});
    });
}

TEST_CASE("all of something that is never awaited disappears") {
    auto witness = std::make_shared<int>(1);
    const auto holds = [](std::shared_ptr<int> held) -> task<int> { co_return *held; };

    {
        const auto never_awaited = when_all(holds(witness), holds(witness));
        CHECK(witness.use_count() == 3);
    }

    CHECK(witness.use_count() == 1);
}

TEST_CASE("combinations nest") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        const auto results =
            co_await when_all(when_all(number_later(1), number(2)), when_all(number(3)), number(4));

        CHECK(results == std::tuple{std::tuple{1, 2}, std::tuple{3}, 4});
    });
}

TEST_CASE(
    "a stop that one branch asks for, before all have begun, reaches those that wait already") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        event unset;
        error outcome;
        const auto body = [&](task_group& group) -> task<> {
            const auto stops = [&]() -> task<> {
                group.request_stop();
                co_return;
            };
            const auto child = [&]() -> task<> {
                const auto results = co_await when_all(with_timeout(200ms, unset.wait()), stops());
                outcome = std::get<0>(results).error();
            };
            group.spawn(child());
            co_await group.join();
        };

        co_await with_group(body);

        CHECK(outcome == errc::canceled);
    });
}

TEST_CASE("many times all of two ready things need no stack") {
    in_a_long_run([](io_context&) -> task<> {
        event ready;
        ready.set();
        int count = 0;

        for (int time = 0; time < many_steps; ++time) {
            const auto results = co_await when_all(ready.wait(), number(1));
            count += std::get<1>(results);
        }

        CHECK(count == many_steps);
    });
}

namespace {

task<> wait_for(event& it) { static_cast<void>(co_await it.wait()); }

disposable await_all_and_any(event& never, stream_socket& silent, bool& told) {
    std::array<std::byte, 8> space{};
    std::vector<task<>> some;
    some.push_back(wait_for(never));
    some.push_back(nothing_at_all());
    static_cast<void>(co_await when_all(when_any(wait_for(never), silent.read_some(space)),
                                        when_all(std::move(some)), number(1),
                                        sleep_for(very_long)));
    told = true;
}

disposable await_group(event& never) {
    const auto body = [&never](task_group& group) -> task<> {
        group.spawn(wait_for(never));
        static_cast<void>(co_await never.wait());
    };
    co_await with_group(body);
}

}  // namespace

TEST_CASE("a frame may be destroyed while it waits for branches, which end with it") {
    on_each_backend_of("coordination", [](io_context& io) -> task<> {
        auto [client, server] = local_pair(io);
        event never;
        bool told = false;
        stop_chain chain;
        const environment surroundings{io, &io, &chain};
        const disposable frame = await_all_and_any(never, server, told);
        frame.frame.promise().env = &surroundings;
        gyre::resume(frame.frame);
        co_await settle();
        CHECK(chain.pending() != nullptr);

        frame.frame.destroy();
        CHECK(chain.pending() == nullptr);
        chain.request(stop_level::stop);
        never.set();
        static_cast<void>(co_await client.write_some(bytes_of("kept")));
        std::array<std::byte, 8> space{};
        const auto got = co_await server.read_some(space);
        co_await settle();

        CHECK_FALSE(told);
        CHECK(got.value() == 4);
    });
}

TEST_CASE(
    "a frame that is destroyed with a group's children in it is a failed check that says so") {
    const auto destroy = [] {
        io_context io;
        event never;
        stop_chain chain;
        const environment surroundings{io, &io, &chain};
        const disposable frame = await_group(never);
        frame.frame.promise().env = &surroundings;
        gyre::resume(frame.frame);
        static_cast<void>(io.poll());
        frame.frame.destroy();
    };

    const ending how = ending_of(destroy);

    CHECK(how.signal == SIGABRT);
    CHECK(how.said_that("a frame is destroyed while its group has children"));
}
