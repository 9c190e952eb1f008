// SPDX-License-Identifier: BSL-1.0
//
// What gyre/sync/sleep.hpp promises. Only a clock ends a sleep, so of the laws in waiting_laws.hpp
// those about wake-ups are asked here in a form of their own.
#include <gyre/sync/sleep.hpp>

#include <gyre/sync/task_group.hpp>
#include <support/conformance.hpp>
#include <support/harness.hpp>
#include <support/long_run.hpp>
#include <support/waiting_laws.hpp>

#include <optional>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

struct sleeps_for_long : needs_no_loop {
    static constexpr const char* name = "sleep_for";
    using needs_no_loop::needs_no_loop;

    auto wait() { return sleep_for(std::chrono::hours{24}); }
};

struct sleeps_until_never : needs_no_loop {
    static constexpr const char* name = "sleep_until";
    using needs_no_loop::needs_no_loop;

    auto wait() { return sleep_until(never); }
};

task<> sleep_and_note(duration wait, std::vector<int>& order, int name) {
    const io_result<> slept = co_await sleep_for(wait);
    CHECK(slept.ok());
    order.push_back(name);
}

task<> sleep_until_and_note(time_point deadline, std::vector<int>& order, int name) {
    const io_result<> slept = co_await sleep_until(deadline);
    CHECK(slept.ok());
    order.push_back(name);
}

}  // namespace

TEST_CASE("a sleep lasts as long as it was asked to") {
    on_each_backend_of("timers", [](io_context& io) -> task<> {
        const time_point begin = io.now();

        const io_result<> slept = co_await sleep_for(20ms);

        CHECK(slept.ok());
        CHECK(io.now() - begin >= 20ms);
    });
}

TEST_CASE("a sleep counts from its await, however long its coroutine has computed before") {
    on_every_backend([](io_context&) -> task<> {
        compute_for(12ms);
        const time_point begin = std::chrono::steady_clock::now();

        const io_result<> slept = co_await sleep_for(10ms);

        CHECK(slept.ok());
        CHECK(std::chrono::steady_clock::now() - begin >= 10ms);
    });
}

TEST_CASE("sleepers wake in the order of their deadlines") {
    on_each_backend_of("timers", [](io_context& io) -> task<> {
        // Only sleepers that all began before the first deadline can show an order: on a machine that is
        // too busy for that, the next round has more time. Moments that have passed count as now.
        bool all_began_in_time = false;
        for (duration step = 1ms; !all_began_in_time; step *= 2) {
            std::vector<int> order;
            const time_point begin = io.now();
            const auto body = [&](task_group& group) -> task<> {
                for (const int steps : {9, 1, 5, -5, 0}) {
                    group.spawn(sleep_until_and_note(begin + steps * step, order, steps));
                }
                co_await settle();
                all_began_in_time = io.now() < begin + step;
            };

            co_await with_group(body);

            if (all_began_in_time) {
                CHECK(order == std::vector{-5, 0, 1, 5, 9});
            }
        }
    });
}

TEST_CASE("a sleep until a moment that has passed lets others run and succeeds") {
    on_each_backend_of("timers", [](io_context& io) -> task<> {
        std::vector<int> order;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(sleep_and_note(0ms, order, 1));
            group.spawn(sleep_and_note(-5ms, order, 1));
            const io_result<> slept = co_await sleep_until(io.now() - 1h);
            CHECK(slept.ok());
            co_await yield();
            CHECK(order == std::vector{1, 1});
        };

        co_await with_group(body);
    });
}

TEST_CASE("a sleep that begins stopped does not sleep") {
    check_stopped_before_start<sleeps_for_long>();
    check_stopped_before_start<sleeps_until_never>();
}

TEST_CASE("a stop ends a sleep at once") {
    check_stopped_while_pending<sleeps_for_long>();
    check_stopped_while_pending<sleeps_until_never>();
}

TEST_CASE("a drain does not end a sleep") {
    on_each_backend_of("timers", [](io_context& io) -> task<> {
        std::vector<int> order;
        const time_point begin = io.now();
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(sleep_and_note(5ms, order, 0));
            co_await settle();
            group.request_drain();
            group.spawn(sleep_and_note(5ms, order, 0));
        };

        co_await with_group(body);

        CHECK(order == std::vector{0, 0});
        CHECK(io.now() - begin >= 5ms);
    });
}

TEST_CASE("of two sleeps that end in the same moment the first cannot stop the second any more") {
    on_each_backend_of("timers", [](io_context& io) -> task<> {
        const time_point moment = io.now() + 3ms;
        std::vector<error> outcomes;
        const auto body = [&](task_group& group) -> task<> {
            const auto sleeper = [&]() -> task<> {
                const io_result<> slept = co_await sleep_until(moment);
                outcomes.push_back(slept.error());
                group.request_stop();
            };
            group.spawn(sleeper());
            group.spawn(sleeper());
            co_await group.join();
        };

        co_await with_group(body);

        CHECK(outcomes == std::vector<error>{errc::ok, errc::ok});
    });
}

TEST_CASE("a frame may be destroyed while it sleeps, and while its wake-up is on its way") {
    on_each_backend_of("timers", [](io_context& io) -> task<> {
        int resumptions = 0;
        struct frame : callback_frame {
            explicit frame(int& count) noexcept
                : callback_frame{[](callback_frame* self) { ++*static_cast<frame*>(self)->count; }},
                  count{&count} {}
            int* count;
        };
        frame waiting{resumptions};
        stop_chain chain;
        const environment given{executor_ref{io}, &io, &chain};

        std::optional<sleep_awaiter> sleeping{sleep_for(1ms)};
        const bool sleeps = sleeping->await_suspend(waiting.handle(), &given);
        sleeping.reset();
        std::optional<sleep_awaiter> woken{sleep_for(0ms)};
        const bool posted = woken->await_suspend(waiting.handle(), &given);
        woken.reset();
        static_cast<void>(co_await sleep_for(3ms));

        CHECK(sleeps);
        CHECK(posted);
        CHECK(chain.pending() == nullptr);
        CHECK(resumptions == 0);
    });
}

TEST_CASE("a yield lets run what is ready, also when everything stops") {
    on_each_backend_of("timers", [](io_context&) -> task<> {
        std::vector<int> order;
        const auto other = [&]() -> task<> {
            order.push_back(1);
            co_await yield();
            order.push_back(3);
        };
        const auto body = [&](task_group& group) -> task<> {
            group.request_stop();
            group.spawn(other());
            co_await yield();
            order.push_back(2);
        };

        co_await with_group(body);

        CHECK(order == std::vector{1, 2, 3});
    });
}

TEST_CASE("many yields need no stack") {
    in_a_long_run([](io_context&) -> task<> {
        int count = 0;

        for (; count < many_steps; ++count) co_await yield();

        CHECK(count == many_steps);
    });
}
