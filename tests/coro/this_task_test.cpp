// SPDX-License-Identifier: BSL-1.0
//
// What gyre/coro/this_task.hpp promises.
#include <gyre/coro/this_task.hpp>

#include <gyre/coro/launch.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/strand.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <support/disposable.hpp>
#include <support/harness.hpp>
#include <support/settle.hpp>

#include <coro/manual_loop.hpp>

#include <optional>
#include <string>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

TEST_CASE("a task knows its loop and its executor") {
    on_every_backend([](io_context& io) -> task<> {
        strand order{io};
        gyre::loop& mine = co_await this_task::loop();
        const executor_ref where = co_await this_task::executor();
        const auto looks = []() -> task<executor_ref> {
            const executor_ref there = co_await this_task::executor();
            co_return there;
        };
        const executor_ref on_strand = co_await on(order, looks());

        CHECK(&mine == &io);
        CHECK(&context_of(mine) == &io);
        CHECK(where.refers_to(&io));
        CHECK(on_strand.refers_to(&order));
    });
}

TEST_CASE("a task knows whether a drain or a stop has begun") {
    on_every_backend([](io_context&) -> task<> {
        std::vector<stop_level> states;
        std::vector<bool> draining;
        const auto notes = [&]() -> task<> {
            const stop_level state = co_await this_task::stop_state();
            const bool drains = co_await this_task::draining();
            states.push_back(state);
            draining.push_back(drains);
        };
        const auto body = [&](task_group& group) -> task<> {
            co_await notes();
            group.request_drain();
            co_await notes();
            static_cast<void>(co_await shielded(notes(), 1h));
            group.request_stop();
            co_await notes();
        };

        co_await with_group(body);

        CHECK(states ==
              std::vector{stop_level::none, stop_level::drain, stop_level::none, stop_level::stop});
        CHECK(draining == std::vector{false, true, false, true});
    });
}

TEST_CASE(
    "a stop can be waited for, and is then heard of once, from the level that was asked for") {
    on_every_backend([](io_context&) -> task<> {
        std::vector<stop_level> heard;
        const auto waits = [&](stop_level at_least) -> task<> {
            const stop_level level = co_await this_task::stop_requested(at_least);
            heard.push_back(level);
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(waits(stop_level::stop));
            group.spawn(waits(stop_level::drain));
            co_await settle();
            CHECK(heard.empty());
            group.request_drain();
            co_await settle();
            CHECK(heard == std::vector{stop_level::drain});
            group.spawn(waits(stop_level::drain));
            co_await settle();
            CHECK(heard == std::vector{stop_level::drain, stop_level::drain});
            group.request_stop();
        };

        co_await with_group(body);

        CHECK(heard == std::vector{stop_level::drain, stop_level::drain, stop_level::stop});
    });
}

TEST_CASE(
    "a frame may be destroyed while it waits for a stop, and while its wake-up is on its way") {
    manual_loop loop;
    stop_chain chain;
    const environment given{executor_ref{loop}, &loop, &chain};
    int resumptions = 0;
    const auto waits = [&]() -> disposable {
        static_cast<void>(co_await this_task::stop_requested());
        ++resumptions;
    };
    for (const bool asked : {false, true}) {
        const disposable each = waits();
        each.frame.promise().env = &given;
        gyre::resume(each.frame);
        CHECK(chain.pending() != nullptr);
        if (asked) chain.request(stop_level::drain);
        each.frame.destroy();
        CHECK(chain.pending() == nullptr);
    }
    loop.run();

    CHECK(resumptions == 0);
}

TEST_CASE("a task that only asks about itself lets others run") {
    manual_loop loop;
    loop.units_per_run = 10;
    int asked = 0;
    const auto asks = [&]() -> task<> {
        for (; asked < 100; ++asked) static_cast<void>(co_await this_task::stop_state());
    };
    launch(loop, asks(), or_terminate{});

    loop.run(1);
    CHECK(asked < 20);
    loop.run();

    CHECK(asked == 100);
}

TEST_CASE("a task is called what it was called, or what the task around it is") {
    on_every_backend([](io_context&) -> task<> {
        const auto name = []() -> task<std::string> {
            const std::string_view said = co_await this_task::name();
            co_return std::string{said};
        };
        const auto calls = [&]() -> task<std::string> {
            std::string said = co_await name();
            co_return said;
        };

        const std::string unnamed = co_await name();
        const std::string named = co_await with_name("session 17", calls());

        CHECK(unnamed.empty());
        CHECK(named == "session 17");
    });
}
