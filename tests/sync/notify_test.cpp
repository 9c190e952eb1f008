// SPDX-License-Identifier: BSL-1.0
//
// What gyre/sync/notify.hpp promises. How its waits end when stopped: waiting_laws_test.cpp.
#include <gyre/sync/notify.hpp>

#include <gyre/coro/resume.hpp>
#include <gyre/sync/task_group.hpp>
#include <support/harness.hpp>
#include <support/settle.hpp>

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

task<> note(notify& on, std::vector<int>& order, int name) {
    const io_result<> waited = co_await on.wait();
    if (waited.ok()) order.push_back(name);
}

}  // namespace

TEST_CASE("notifications that nobody waits for count as one, for the next") {
    on_every_backend([](io_context&) -> task<> {
        notify on;
        std::vector<int> order;
        const auto body = [&](task_group& group) -> task<> {
            on.notify_one();
            on.notify_one();
            on.notify_all();
            group.spawn(note(on, order, 1));
            group.spawn(note(on, order, 2));
            co_await settle();
            CHECK(order == std::vector{1});
            on.notify_one();
        };

        co_await with_group(body);

        CHECK(order == std::vector{1, 2});
    });
}

TEST_CASE("notifying all ends the waits that have begun, and no later one") {
    on_every_backend([](io_context&) -> task<> {
        notify on;
        std::vector<int> order;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(note(on, order, 1));
            group.spawn(note(on, order, 2));
            co_await settle();
            on.notify_all();
            group.spawn(note(on, order, 3));
            co_await settle();
            CHECK(order == std::vector{1, 2});
            group.request_stop();
        };

        co_await with_group(body);

        CHECK(order == std::vector{1, 2});
    });
}

TEST_CASE("a notification of a frame that is destroyed before it goes on is another one's") {
    on_every_backend([](io_context& io) -> task<> {
        notify on;
        std::vector<int> order;
        stop_chain chain;
        const environment given{executor_ref{io}, &io, &chain};
        callback_frame frame{[](callback_frame*) {}};
        const auto body = [&](task_group& group) -> task<> {
            std::optional<notify::wait_awaiter> first{std::in_place, on};
            CHECK(first->await_suspend(frame.handle(), &given));
            group.spawn(note(on, order, 2));
            co_await settle();
            on.notify_one();
            CHECK(order.empty());
            first.reset();
        };

        co_await with_group(body);

        CHECK(order == std::vector{2});
    });
}

TEST_CASE("a notification of all that a destroyed frame had is no later one's") {
    on_every_backend([](io_context& io) -> task<> {
        notify on;
        std::vector<int> order;
        stop_chain chain;
        const environment given{executor_ref{io}, &io, &chain};
        callback_frame frame{[](callback_frame*) {}};
        std::optional<notify::wait_awaiter> first{std::in_place, on};
        CHECK(first->await_suspend(frame.handle(), &given));
        on.notify_all();
        first.reset();
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(note(on, order, 2));
            co_await settle();
            CHECK(order.empty());
            group.request_stop();
        };

        co_await with_group(body);
    });
}

TEST_CASE("a thread is notified by a coroutine, and a coroutine by a thread, in turns") {
    with_every_backend([](const io_context_options& options) {
        constexpr int rounds = 200;
        io_context io{options};
        notify to_thread;
        notify to_loop;
        int hits = 0;  // In turns, so never touched by two threads at once.
        const auto play = [&]() -> task<> {
            for (int round = 0; round < rounds; ++round) {
                ++hits;
                to_thread.notify_one();
                const io_result<> told = co_await to_loop.wait();
                CHECK(told.ok());
            }
        };
        std::thread other{[&] {
            for (int round = 0; round < rounds; ++round) {
                static_cast<void>(to_thread.wait_blocking());
                ++hits;
                to_loop.notify_one();
            }
        }};

        launch(io, play(), or_terminate{});
        io.run_for(patience);
        other.join();

        CHECK(hits == 2 * rounds);
    });
}

TEST_CASE("a thread that is not notified waits until its deadline") {
    notify on;

    const io_result<> waited = on.wait_blocking(std::chrono::steady_clock::now() + 1ms);

    CHECK(waited.error() == errc::timed_out);
}
