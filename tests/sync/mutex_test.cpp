// SPDX-License-Identifier: BSL-1.0
//
// What gyre/sync/mutex.hpp promises. How its waits end when stopped: waiting_laws_test.cpp.
#include <gyre/sync/mutex.hpp>

#include <gyre/sync/task_group.hpp>
#include <support/conformance.hpp>
#include <support/waiting_laws.hpp>

#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

task<> hold_across_awaits(mutex& lock, int& inside, std::vector<int>& order, int name) {
    io_result<mutex::guard> locked = co_await lock.lock();
    const mutex::guard held = locked.take();
    CHECK(held.owns());
    CHECK(++inside == 1);
    co_await settle();
    order.push_back(name);
    --inside;
}

}  // namespace

TEST_CASE("one holder at a time, in the order of asking") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        mutex lock;
        int inside = 0;
        std::vector<int> order;
        const auto body = [&](task_group& group) -> task<> {
            for (int name = 0; name < 5; ++name) {
                group.spawn(hold_across_awaits(lock, inside, order, name));
            }
            co_return;
        };

        co_await with_group(body);

        CHECK(order == std::vector{0, 1, 2, 3, 4});
        CHECK(lock.try_lock().owns());
    });
}

TEST_CASE("a lock that is held cannot be tried, and a released one goes to the waiter first") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        mutex lock;
        int inside = 0;
        std::vector<int> order;
        const auto body = [&](task_group& group) -> task<> {
            mutex::guard held = lock.try_lock();
            CHECK_FALSE(lock.try_lock().owns());
            group.spawn(hold_across_awaits(lock, inside, order, 1));
            co_await settle();
            held.unlock();
            CHECK_FALSE(held.owns());
            CHECK_FALSE(lock.try_lock().owns());
        };

        co_await with_group(body);

        CHECK(order == std::vector{1});
    });
}

TEST_CASE("a guard moves, unlocks once, and lets go of what it held when it is assigned to") {
    mutex first;
    mutex second;
    mutex::guard one = first.try_lock();
    mutex::guard two = second.try_lock();

    one = std::move(two);
    const bool first_is_free = first.try_lock().owns();
    const bool second_is_free = second.try_lock().owns();
    one.unlock();
    one.unlock();

    CHECK(first_is_free);
    CHECK_FALSE(second_is_free);
    CHECK(second.try_lock().owns());
    CHECK_FALSE(two.owns());
}

TEST_CASE("a lock that was not got in time yields an empty guard, and the lock stays usable") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        mutex lock;
        mutex::guard held = lock.try_lock();

        io_result<mutex::guard> late = co_await with_timeout(1ms, lock.lock());
        held.unlock();

        CHECK(late.error() == errc::timed_out);
        CHECK_FALSE(late.take().owns());
        CHECK(lock.try_lock().owns());
    });
}

TEST_CASE("a lock whose result is not taken is released") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        mutex lock;

        static_cast<void>(co_await lock.lock());

        CHECK(lock.try_lock().owns());
    });
}
