// SPDX-License-Identifier: BSL-1.0
//
// What gyre/sync/semaphore.hpp promises. How its waits end when stopped: waiting_laws_test.cpp.
#include <gyre/sync/semaphore.hpp>

#include <gyre/coro/resume.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <support/conformance.hpp>
#include <support/waiting_laws.hpp>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

task<> take_and_note(semaphore& from, std::vector<int>& order, int name) {
    const io_result<> taken = co_await from.acquire();
    if (taken.ok()) order.push_back(name);
}

struct crowd {
    int inside = 0;
    int most = 0;
};

task<> enter_and_leave(semaphore& door, crowd& within) {
    const io_result<> entered = co_await door.acquire();
    CHECK(entered.ok());
    within.most = std::max(within.most, ++within.inside);
    co_await settle();
    --within.inside;
    door.release();
}

}  // namespace

TEST_CASE("a semaphore lets in as many as it has permits, and all in the end") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        semaphore door{3};
        crowd within;
        const auto body = [&](task_group& group) -> task<> {
            for (int each = 0; each < 20; ++each) group.spawn(enter_and_leave(door, within));
            co_return;
        };

        co_await with_group(body);

        CHECK(within.most == 3);
        CHECK(door.available() == 3);
    });
}

TEST_CASE("permits go to waiters in the order in which they came, and none overtakes") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        semaphore door{0};
        std::vector<int> order;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(take_and_note(door, order, 1));
            group.spawn(take_and_note(door, order, 2));
            co_await settle();
            door.release();
            CHECK_FALSE(door.try_acquire());
            group.spawn(take_and_note(door, order, 3));
            co_await settle();
            CHECK(order == std::vector{1});
            door.release();
            door.release();
        };

        co_await with_group(body);

        CHECK(order == std::vector{1, 2, 3});
        CHECK(door.available() == 0);
    });
}

TEST_CASE("a permit released after a waiter was stopped goes to the next one") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        semaphore door{0};

        const io_result<> late = co_await with_timeout(1ms, door.acquire());
        door.release();

        CHECK(late.error() == errc::timed_out);
        CHECK(door.available() == 1);
        CHECK(door.try_acquire());
        CHECK_FALSE(door.try_acquire());
    });
}

TEST_CASE("a stopped acquire takes no permit even where there is one") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        semaphore door{1};
        std::vector<int> order;
        const auto body = [&](task_group& group) -> task<> {
            group.request_stop();
            group.spawn(take_and_note(door, order, 1));
            co_await group.join();
        };

        co_await with_group(body);

        CHECK(order.empty());
        CHECK(door.available() == 1);
    });
}

TEST_CASE("an acquire for intake is ended by a drain") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        semaphore door{0};
        io_result<> taken;
        const auto intake = [&]() -> task<> { taken = co_await door.acquire_for_intake(); };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(intake());
            co_await settle();
            group.request_drain();
        };

        co_await with_group(body);

        CHECK(taken.error() == errc::canceled);
    });
}

TEST_CASE("permits of a loop give themselves back, all or in parts") {
    semaphore doors{5};
    {
        semaphore::permits held = doors.try_acquire_permits(4);
        CHECK(held.count() == 4);
        CHECK(doors.try_acquire_permits(2).count() == 0);
        held.split(1).release();
        CHECK(doors.available() == 2);
        held.split(1).forget();
        const semaphore::permits moved = std::move(held);
        CHECK(moved.count() == 2);
    }
    CHECK(doors.available() == 4);
}

TEST_CASE("several permits are waited for in turn, and those behind go on if the first gives up") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        semaphore doors{2};
        std::vector<std::size_t> order;
        const auto take = [&](std::size_t count) -> task<> {
            auto taken = co_await doors.acquire_permits(count);
            if (!taken.ok()) co_return;
            order.push_back(count);
            const semaphore::permits held = taken.take();
            co_await yield();
        };
        const auto gives_up = [&](task_group& group) -> task<> {
            group.spawn(take(9));
            co_await settle();
            group.request_stop();
        };
        const auto body = [&](task_group& group) -> task<> {
            semaphore::permits held = doors.try_acquire_permits(1);
            group.spawn(take(2));
            group.spawn(take(1));
            co_await settle();
            CHECK(order.empty());  // One is left, but not for those who come later.
            held.release();
            co_await settle();
            CHECK(order == std::vector<std::size_t>{2, 1});
            group.spawn([&]() -> task<> { co_await with_group(gives_up); });
            group.spawn(take(1));
        };

        co_await with_group(body);

        CHECK(order == std::vector<std::size_t>{2, 1, 1});
        CHECK(doors.available() == 2);
    });
}

TEST_CASE("a frame that is destroyed while it waits for permits lets those behind it go on") {
    on_each_backend_of("coordination", [](io_context& io) -> task<> {
        semaphore doors{1};
        std::vector<int> order;
        stop_chain chain;
        const environment given{executor_ref{io}, &io, &chain};
        callback_frame frame{[](callback_frame*) {}};
        const auto body = [&](task_group& group) -> task<> {
            std::optional<semaphore::acquire_permits_awaiter> first{std::in_place, doors, 2U};
            CHECK(first->await_suspend(frame.handle(), &given));
            group.spawn(take_and_note(doors, order, 1));
            co_await settle();
            CHECK(order.empty());
            first.reset();
        };

        co_await with_group(body);

        CHECK(order == std::vector{1});
    });
}
