// SPDX-License-Identifier: BSL-1.0
//
// What gyre/sync/condition.hpp promises. How its waits end when stopped: waiting_laws_test.cpp.
#include <gyre/sync/condition.hpp>

#include <gyre/sync/task_group.hpp>
#include <support/conformance.hpp>
#include <support/waiting_laws.hpp>

#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

struct counter {
    mutex lock;
    condition changed;
    int value = 0;
};

task<> take_one(counter& from, std::vector<int>& order, int name) {
    io_result<mutex::guard> locked = co_await from.lock.lock();
    mutex::guard held = locked.take();
    while (from.value == 0) {
        const io_result<> notified = co_await from.changed.wait(held);
        CHECK(held.owns());
        if (!notified.ok()) co_return;
    }
    --from.value;
    order.push_back(name);
}

task<> wait_and_look(counter& at, mutex::guard& held, io_result<>& outcome) {
    outcome = co_await at.changed.wait(held);
    CHECK(held.owns());
}

}  // namespace

TEST_CASE("a condition lets go of the lock while it waits, and has it again afterwards") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        counter shared;
        std::vector<int> order;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(take_one(shared, order, 1));
            group.spawn(take_one(shared, order, 2));
            co_await settle();
            {
                const mutex::guard held = shared.lock.try_lock();
                CHECK(held.owns());
                shared.value = 1;
                shared.changed.notify_one();
                co_await settle();
                CHECK(order.empty());
            }
            co_await settle();
            CHECK(order == std::vector{1});
            shared.value = 1;
            shared.changed.notify_all();
        };

        co_await with_group(body);

        CHECK(order == std::vector{1, 2});
        CHECK(shared.lock.try_lock().owns());
    });
}

TEST_CASE("notify_all wakes all waiters, and each holds the lock in turn") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        counter shared;
        std::vector<int> order;
        const auto body = [&](task_group& group) -> task<> {
            for (int name = 0; name < 4; ++name) group.spawn(take_one(shared, order, name));
            co_await settle();
            shared.value = 3;
            shared.changed.notify_all();
            co_await settle();
            CHECK(order == std::vector{0, 1, 2});
            group.request_stop();
        };

        co_await with_group(body);

        CHECK(order == std::vector{0, 1, 2});
    });
}

TEST_CASE("a notification without a waiter is lost") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        counter shared;
        mutex::guard held = shared.lock.try_lock();
        shared.changed.notify_one();

        const io_result<> late = co_await with_timeout(1ms, shared.changed.wait(held));

        CHECK(late.error() == errc::timed_out);
        CHECK(held.owns());
    });
}

TEST_CASE("a stopped wait takes the lock again before it returns, even if it has to wait") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        counter shared;
        mutex::guard held = shared.lock.try_lock();
        io_result<> outcome;
        bool ended = false;
        const auto waits = [&]() -> task<> {
            co_await wait_and_look(shared, held, outcome);
            ended = true;
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(waits());
            co_await settle();
            mutex::guard meanwhile = shared.lock.try_lock();
            CHECK(meanwhile.owns());
            group.request_stop();
            co_await settle();
            CHECK_FALSE(ended);
            meanwhile.unlock();
        };

        co_await with_group(body);

        CHECK(ended);
        CHECK(outcome.error() == errc::canceled);
        CHECK(held.owns());
    });
}

TEST_CASE("a notification that meets a stopped waiter goes to the next one") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        counter shared;
        std::vector<int> order;
        event stop_first;
        const auto first_in_group = [&](task_group& group) -> task<> {
            group.spawn(take_one(shared, order, 1));
            static_cast<void>(co_await stop_first.wait());
            group.request_stop();
        };
        const auto first = [&]() -> task<> { co_await with_group(first_in_group); };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(first());
            co_await settle();
            group.spawn(take_one(shared, order, 2));
            co_await settle();
            stop_first.set();
            co_await settle();
            shared.value = 1;
            shared.changed.notify_one();
        };

        co_await with_group(body);

        CHECK(order == std::vector{2});
    });
}
