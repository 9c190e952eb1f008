// SPDX-License-Identifier: BSL-1.0
//
// Trees of tasks that are sent to a pool at each fork. Where plenty waits on a loop, the next task begins
// below its caller: a tree takes memory by its depth, and all else is as if the task had been sent.
#include <gyre/coro/frame_memory.hpp>
#include <gyre/coro/task_dump.hpp>
#include <gyre/coro/this_task.hpp>
#include <gyre/runtime/io_pool.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/strand.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/when_all.hpp>
#include <support/counted_frames.hpp>
#include <support/harness.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

constexpr auto here = std::allocator_arg;
using tag = std::allocator_arg_t;

void on_pools(unsigned threads, const std::function<void(io_pool&)>& body) {
    with_every_backend([&](const io_context_options& each) {
        io_pool_options options;
        options.threads = threads;
        options.loop = each;
        io_pool pool{options};
        REQUIRE_FALSE(pool.status());
        body(pool);
    });
}

task<long> fib(tag, counted_frames* in, io_pool* pool, int n) {
    if (n < 2) co_return n;
    const auto [one, two] = co_await when_all(on(*pool, fib(here, in, pool, n - 1)),
                                              on(*pool, fib(here, in, pool, n - 2)));
    co_return one + two;
}

task<long> leaves_of(tag, counted_frames* in, io_pool* pool, int depth) {
    constexpr int branches = 10;
    if (depth == 0) co_return 1;
    std::vector<remote_task<io_pool, long>> all;
    for (int each = 0; each < branches; ++each)
        all.push_back(on(*pool, leaves_of(here, in, pool, depth - 1)));
    long sum = 0;
    for (const long each : co_await when_all(std::move(all))) sum += each;
    co_return sum;
}

/// Runs `body(pool)` as a root on a pool of one loop, on which any beginning is plenty.
template <class Body>
void within_pool_of_one(const Body& body) {
    on_pools(1, [&](io_pool& pool) {
        bool over = false;
        const auto whole = [&]() -> task<> {
            co_await body(pool);
            over = true;
        };
        launch(pool, whole(), or_terminate{});
        pool.wait();
        CHECK(over);
    });
}

task<io_context*> name_the_loop() { co_return io_context::current(); }
task<bool> resumes_on(io_context& loop) {
    const executor_ref mine = co_await this_task::executor();
    co_return mine.refers_to(&loop);
}
task<> wait_far_down(event& until) { static_cast<void>(co_await until.wait()); }
task<> wait_below(io_pool& pool, event& until) { co_await on(pool, wait_far_down(until)); }

}  // namespace

TEST_CASE("a tree that is sent to its pool at each fork takes memory by its depth") {
    for (const unsigned threads : {1U, 2U, 4U}) {
        CAPTURE(threads);
        on_pools(threads, [&](io_pool& pool) {
            counted_frames deep;
            long sum = 0;
            const auto ask = [&]() -> task<> { sum = co_await fib(here, &deep, &pool, 22); };
            launch(pool, ask(), or_terminate{});
            pool.wait();
            CHECK(sum == 17'711);
            CHECK(deep.made() == 57'313);
            CHECK(deep.live() == 0);
            CHECK(deep.most() < 3'000UL * threads);

            counted_frames broad;
            const auto count = [&]() -> task<> {
                sum = co_await leaves_of(here, &broad, &pool, 5);
            };
            launch(pool, count(), or_terminate{});
            pool.wait();
            CHECK(sum == 100'000);
            CHECK(broad.made() == 111'111);
            CHECK(broad.live() == 0);
            CHECK(broad.most() < 3'000UL * threads);
        });
    }
}

TEST_CASE("a stop reaches a task that began below its caller") {
    within_pool_of_one([](io_pool& pool) -> task<> {
        errc outcome = errc::ok;
        const auto sleeper = []() -> task<errc> {
            const io_result<> slept = co_await sleep_for(1h);
            co_return slept.ok() ? errc::ok : static_cast<errc>(slept.error().code());
        };
        const auto child = [&]() -> task<> { outcome = co_await on(pool, sleeper()); };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(child());
            co_await yield();
            group.request_stop();
        };
        co_await with_group(body);
        CHECK(outcome == errc::canceled);
    });
}

TEST_CASE("the frame of a task that began below its caller is gone when that resumes") {
    within_pool_of_one([](io_pool& pool) -> task<> {
        const auto held = std::make_shared<int>(1);
        const auto holder = [](std::shared_ptr<int> it) -> task<long> {
            co_await yield();
            co_return it.use_count();
        };
        auto sent = on(pool, holder(held));
        CHECK(co_await std::move(sent) == 2);
        CHECK(held.use_count() == 1);
    });
}

TEST_CASE("a task that began below its caller stands below it in the dump") {
    within_pool_of_one([](io_pool& pool) -> task<> {
        event ends;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(wait_below(pool, ends));
            group.spawn([&]() -> task<> {
                static_cast<void>(co_await when_all(on(pool, wait_far_down(ends)),
                                                    on(pool, wait_far_down(ends))));
            });
            co_await yield();
            const std::string text = dump_tasks(*io_context::current());
            CAPTURE(text);
            const std::size_t below = text.find("wait_below");
            REQUIRE(below != std::string::npos);
            std::size_t found = 0;
            for (std::size_t at = text.find("wait_far_down"); at != std::string::npos;
                 at = text.find("wait_far_down", at + 1))
                ++found;
            CHECK(found == 3);
            CHECK(text.find("wait_far_down", below) != std::string::npos);
            ends.set();
        };
        co_await with_group(body);
    });
}

TEST_CASE("a task that is sent from a strand leaves it") {
    within_pool_of_one([](io_pool& pool) -> task<> {
        io_context& loop = *io_context::current();
        strand one_at_a_time{loop};
        const auto within = [&]() -> task<> {
            const bool here_already = co_await resumes_on(loop);
            CHECK_FALSE(here_already);
            const bool there = co_await on(pool, resumes_on(loop));
            CHECK(there);
        };
        co_await on(one_at_a_time, within());
    });
}

TEST_CASE("a coroutine that sends tasks to its own loop without an end lets others run") {
    within_pool_of_one([](io_pool& pool) -> task<> {
        bool over = false;
        long turns_of_others = 0;
        const auto other = [&]() -> task<> {
            while (!over) {
                ++turns_of_others;
                co_await yield();
            }
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(other());
            io_context* const loop = io_context::current();
            for (int round = 0; round < 100'000; ++round)
                REQUIRE(co_await on(pool, name_the_loop()) == loop);
            over = true;
        };
        co_await with_group(body);
        CHECK(turns_of_others > 50);
    });
}
