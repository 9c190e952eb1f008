// SPDX-License-Identifier: BSL-1.0
//
// What gyre/sync/event.hpp promises: its waiters go on when it is set, in order and once. How
// its waits end when they are stopped is in waiting_laws_test.cpp.
#include <gyre/sync/event.hpp>

#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <support/conformance.hpp>
#include <support/harness.hpp>
#include <support/long_run.hpp>
#include <support/settle.hpp>

#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

task<> note_when_set(event& until, std::vector<int>& order, int name) {
    const io_result<> waited = co_await until.wait();
    if (waited.ok()) order.push_back(name);
}

}  // namespace

TEST_CASE("setting an event lets its waiters go in the order in which they came") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        event ready;
        std::vector<int> order;
        const auto body = [&](task_group& group) -> task<> {
            for (int name = 0; name < 5; ++name) group.spawn(note_when_set(ready, order, name));
            co_await settle();
            CHECK(order.empty());
            ready.set();
        };

        co_await with_group(body);

        CHECK(order == std::vector{0, 1, 2, 3, 4});
    });
}

TEST_CASE("a wait for an event that never comes times out") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        event never_set;

        const io_result<> waited = co_await with_timeout(2ms, never_set.wait());

        CHECK(waited.error() == errc::timed_out);
    });
}

TEST_CASE("a set event lets every wait pass until it is reset") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        event ready;
        ready.set();
        const io_result<> first = co_await ready.wait();
        ready.reset();

        const io_result<> second = co_await with_timeout(1ms, ready.wait());

        CHECK(first.ok());
        CHECK(second.error() == errc::timed_out);
    });
}

TEST_CASE("waiters that were released stay released when the event is reset in the same turn") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        event ready;
        std::vector<int> order;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(note_when_set(ready, order, 1));
            co_await yield();
            ready.set();
            ready.reset();
            group.spawn(note_when_set(ready, order, 2));
            co_await yield();
            co_await yield();
            CHECK(order == std::vector{1});
            CHECK_FALSE(ready.is_set());
            group.request_stop();
        };

        co_await with_group(body);

        CHECK(order == std::vector{1});
    });
}

TEST_CASE("setting an event twice releases each waiter once") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        event ready;
        std::vector<int> order;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(note_when_set(ready, order, 1));
            co_await yield();
            ready.set();
            ready.set();
        };

        co_await with_group(body);

        CHECK(order == std::vector{1});
    });
}

TEST_CASE("waiting many times for an event that is set needs no stack") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        event ready;
        ready.set();
        int passed = 0;

        for (int time = 0; time < many_steps; ++time) {
            const io_result<> waited = co_await ready.wait();
            if (waited.ok()) ++passed;
        }

        CHECK(passed == many_steps);
    });
}
