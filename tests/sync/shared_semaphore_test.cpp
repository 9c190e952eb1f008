// SPDX-License-Identifier: BSL-1.0
//
// What gyre/sync/shared_semaphore.hpp promises. How its wait ends when stopped: waiting_laws_test.cpp.
#include <gyre/sync/shared_semaphore.hpp>

#include <gyre/coro/resume.hpp>
#include <gyre/interop/future.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <support/pools.hpp>
#include <support/settle.hpp>

#include <atomic>
#include <chrono>
#include <future>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

task<> take(shared_semaphore& of, std::size_t count, std::vector<std::size_t>& order) {
    auto taken = co_await of.acquire(count);
    if (!taken.ok()) co_return;
    order.push_back(count);
    const shared_semaphore::permits held = taken.take();
    co_await yield();
}

}  // namespace

TEST_CASE("permits give themselves back, all, in parts, or never") {
    shared_semaphore of{10};
    {
        shared_semaphore::permits held = of.try_acquire(7);
        CHECK(held.count() == 7);
        CHECK(of.available() == 3);
        CHECK(of.try_acquire(4).count() == 0);

        held.split(2).release();
        CHECK(of.available() == 5);
        held.split(1).forget();
        shared_semaphore::permits moved = std::move(held);
        CHECK(moved.count() == 4);
        moved = of.try_acquire(1);
        CHECK(of.available() == 8);
    }
    CHECK(of.available() == 9);
    of.release(2);
    CHECK(of.available() == 11);
}

TEST_CASE("who wants many permits is not overtaken by those who want few") {
    on_every_backend([](io_context&) -> task<> {
        shared_semaphore of{3};
        std::vector<std::size_t> order;
        const auto body = [&](task_group& group) -> task<> {
            shared_semaphore::permits held = of.try_acquire(1);
            group.spawn(take(of, 3, order));
            group.spawn(take(of, 1, order));
            group.spawn(take(of, 2, order));
            co_await settle();
            CHECK(order.empty());
            CHECK(of.try_acquire(1).count() == 0);
            held.release();
        };

        co_await with_group(body);

        CHECK(order == std::vector<std::size_t>{3, 1, 2});
        CHECK(of.available() == 3);
    });
}

TEST_CASE("when the one in front gives up those behind it take what there is") {
    on_every_backend([](io_context& io) -> task<> {
        shared_semaphore of{2};
        std::vector<std::size_t> order;
        stop_chain chain;
        const environment given{executor_ref{io}, &io, &chain};
        callback_frame frame{[](callback_frame*) {}};
        const auto front = [&](task_group& group) -> task<> {
            group.spawn(take(of, 5, order));
            co_await settle();
            group.request_stop();
        };
        const auto body = [&](task_group& group) -> task<> {
            std::optional<shared_semaphore::acquire_awaiter> first{std::in_place, of, 5U};
            CHECK(first->await_suspend(frame.handle(), &given));
            group.spawn([&]() -> task<> { co_await with_group(front); });
            group.spawn(take(of, 1, order));
            group.spawn(take(of, 1, order));
            co_await settle();
            CHECK(order.empty());
            first.reset();  // Its frame is destroyed.
            co_await settle();
            CHECK(order == std::vector<std::size_t>{1, 1});
        };

        co_await with_group(body);

        CHECK(of.available() == 2);
    });
}

TEST_CASE("permits of a frame that is destroyed before it goes on are given back") {
    on_every_backend([](io_context& io) -> task<> {
        shared_semaphore of{0};
        stop_chain chain;
        const environment given{executor_ref{io}, &io, &chain};
        callback_frame frame{[](callback_frame*) {}};
        std::optional<shared_semaphore::acquire_awaiter> waiting{std::in_place, of, 2U};
        CHECK(waiting->await_suspend(frame.handle(), &given));
        of.release(3);
        CHECK(of.available() == 1);

        waiting.reset();

        CHECK(of.available() == 3);
        co_return;
    });
}

TEST_CASE("one release serves any number of those who wait") {
    on_every_backend([](io_context&) -> task<> {
        constexpr std::size_t count = 50;  // More than are woken under one lock.
        shared_semaphore of{0};
        std::vector<std::size_t> order;
        const auto body = [&](task_group& group) -> task<> {
            for (std::size_t each = 0; each < count; ++each) group.spawn(take(of, 1, order));
            co_await settle();
            of.release(count);
        };

        co_await with_group(body);

        CHECK(order.size() == count);
        CHECK(of.available() == count);
    });
}

TEST_CASE("storm: there are never more holders than permits, and all permits come back") {
    const unsigned seed = std::random_device{}();
    CAPTURE(seed);
    with_pools(3, [seed](io_context&, io_pool& pool) {
        constexpr std::size_t permits = 3;
        constexpr int rounds = 300;
        shared_semaphore of{permits};
        std::atomic<std::size_t> held{0};
        std::atomic<int> wrong{0};
        const auto hold = [&](const shared_semaphore::permits& taken) {
            if (held.fetch_add(taken.count()) + taken.count() > permits) ++wrong;
            held.fetch_sub(taken.count());
        };
        const auto work = [&](unsigned name) -> task<> {
            std::mt19937 random{seed + name};
            for (int round = 0; round < rounds; ++round) {
                const std::size_t wanted = 1 + random() % permits;
                const duration limit = std::chrono::microseconds{random() % 50};
                auto taken = co_await with_timeout(limit, of.acquire(wanted));
                if (!taken.ok()) continue;
                const shared_semaphore::permits mine = taken.take();
                if (mine.count() != wanted) ++wrong;
                hold(mine);
            }
        };
        std::vector<std::future<void>> ends;
        for (unsigned name = 0; name < 6; ++name) {
            ends.push_back(to_future(pool[name % pool.size()], work(name)));
        }
        std::thread blocking{[&] {
            for (int round = 0; round < rounds; ++round) {
                auto taken = of.acquire_blocking(2);
                const shared_semaphore::permits mine = taken.take();
                hold(mine);
            }
        }};

        for (std::future<void>& each : ends) each.get();
        blocking.join();

        CHECK(wrong == 0);
        CHECK(of.available() == permits);
    });
}

TEST_CASE("a thread that gets no permits waits until its deadline") {
    shared_semaphore of{1};

    const auto none = of.acquire_blocking(2, std::chrono::steady_clock::now() + 1ms);

    CHECK(none.error() == errc::timed_out);
    CHECK(of.available() == 1);
}
