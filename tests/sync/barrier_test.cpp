// SPDX-License-Identifier: BSL-1.0
//
// What gyre/sync/barrier.hpp promises. How its wait ends when stopped: waiting_laws_test.cpp.
#include <gyre/sync/barrier.hpp>

#include <gyre/interop/future.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <support/pools.hpp>
#include <support/settle.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <thread>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

task<> arrive(barrier& at, int& passed, int& last) {
    const io_result<bool> arrived = co_await at.arrive_and_wait();
    if (!arrived.ok()) co_return;
    ++passed;
    if (arrived.value()) ++last;
}

}  // namespace

TEST_CASE("a round ends when all have arrived, and one of them was the last") {
    on_every_backend([](io_context&) -> task<> {
        barrier at{3};
        int passed = 0;
        int last = 0;
        const auto body = [&](task_group& group) -> task<> {
            for (int round = 1; round < 4; ++round) {
                group.spawn(arrive(at, passed, last));
                group.spawn(arrive(at, passed, last));
                co_await settle();
                CHECK(passed == 3 * (round - 1));
                group.spawn(arrive(at, passed, last));
                co_await settle();
                CHECK(passed == 3 * round);
                CHECK(last == round);
            }
        };

        co_await with_group(body);

        CHECK(last == 3);
    });
}

TEST_CASE("a participant that is stopped has not arrived") {
    on_every_backend([](io_context&) -> task<> {
        barrier at{2};
        int passed = 0;
        int last = 0;
        const auto stopped = [&](task_group& group) -> task<> {
            group.spawn(arrive(at, passed, last));
            co_await settle();
            group.request_stop();
        };
        const auto body = [&](task_group& group) -> task<> {
            co_await with_group(stopped);
            group.spawn(arrive(at, passed, last));
            co_await settle();
            CHECK(passed == 0);
            group.spawn(arrive(at, passed, last));
        };

        co_await with_group(body);

        CHECK(passed == 2);
        CHECK(last == 1);
    });
}

TEST_CASE("storm: no thread begins a round before all have ended the one before") {
    with_pools(2, [](io_context&, io_pool& pool) {
        constexpr int rounds = 200;
        constexpr std::size_t participants = 5;
        barrier at{participants};
        std::array<std::atomic<int>, participants> round_of{};
        std::atomic<int> wrong{0};
        std::atomic<int> last{0};
        // Behind the barrier all have come as far as this one, and none is further than one round ahead.
        const auto look = [&](int round) {
            for (const std::atomic<int>& each : round_of) {
                const int theirs = each.load();
                if (theirs < round || theirs > round + 1) ++wrong;
            }
        };
        const auto take_part = [&](std::size_t name) -> task<> {
            for (int round = 1; round <= rounds; ++round) {
                round_of[name] = round;
                io_result<bool> arrived = errc::timed_out;
                while (!arrived.ok()) {
                    arrived = co_await with_timeout(20us, at.arrive_and_wait());
                }
                if (arrived.value()) ++last;
                look(round);
            }
        };
        std::vector<std::future<void>> ends;
        for (std::size_t name = 0; name + 1 < participants; ++name) {
            ends.push_back(to_future(pool[name % 2], take_part(name)));
        }
        std::thread blocking{[&] {
            for (int round = 1; round <= rounds; ++round) {
                round_of[participants - 1] = round;
                const io_result<bool> arrived = at.arrive_and_wait_blocking();
                if (arrived.value()) ++last;
                look(round);
            }
        }};

        for (std::future<void>& each : ends) each.get();
        blocking.join();

        CHECK(wrong == 0);
        CHECK(last == rounds);
    });
}

TEST_CASE("a thread that is alone at a barrier waits until its deadline") {
    barrier at{2};
    barrier of_one{1};

    const io_result<bool> alone =
        at.arrive_and_wait_blocking(std::chrono::steady_clock::now() + 1ms);
    const io_result<bool> at_once = of_one.arrive_and_wait_blocking();

    CHECK(alone.error() == errc::timed_out);
    CHECK(at_once.value());
}

TEST_CASE("a round that has ended has ended for all, time-outs at that moment included") {
    constexpr int others = 24;  // More than are woken at once.
    for (int round = 0; round < 60; ++round) {
        barrier at{others + 1};
        std::atomic<int> through = 0;
        std::vector<std::thread> all;
        const auto moment = std::chrono::steady_clock::now() + 2ms;
        for (int each = 0; each < others; ++each) {
            all.emplace_back([&, each] {
                const auto until = moment + std::chrono::microseconds{5 * each};
                through += at.arrive_and_wait_blocking(until).ok() ? 1 : 0;
            });
        }
        while (std::chrono::steady_clock::now() < moment - 30us) std::this_thread::yield();
        const bool whole = at.arrive_and_wait_blocking(moment + 200us).ok();
        for (std::thread& each : all) each.join();

        CHECK(through == (whole ? others : 0));
    }
}
