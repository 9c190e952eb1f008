// SPDX-License-Identifier: BSL-1.0
//
// What gyre/runtime/thread_pool.hpp and call.hpp promise to the code that uses them.
#include <gyre/runtime/thread_pool.hpp>

#include <gyre/runtime/call.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <support/harness.hpp>

#include <atomic>
#include <memory>
#include <thread>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

TEST_CASE("a blocking call yields what its function returns") {
    on_every_backend([](io_context&) -> task<> {
        const auto number = co_await blocking([] { return 7; });
        int side_effect = 0;
        const auto nothing = co_await blocking([&] { side_effect = 1; });
        auto text = co_await blocking([] { return std::make_unique<int>(3); });

        CHECK(number.value() == 7);
        CHECK(nothing.ok());
        CHECK(side_effect == 1);
        CHECK(*text.take() == 3);
    });
}

TEST_CASE("calls run at the same time, on no more threads than allowed") {
    with_every_backend([](io_context_options options) {
        options.worker_threads_max = 2;
        io_context io{options};
        std::atomic<int> inside = 0;
        std::atomic<int> most = 0;
        const auto enter = [&] {
            const int now = ++inside;
            int before = most;
            while (before < now && !most.compare_exchange_weak(before, now)) {
            }
            std::this_thread::yield();
            --inside;
        };
        const auto call = [&]() -> task<> { CHECK((co_await blocking(enter)).ok()); };
        for (int each = 0; each < 200; ++each) launch(io, call(), or_terminate{});

        io.run_for(patience);

        CHECK(inside == 0);
        CHECK(most >= 1);
        CHECK(most <= 2);
    });
}

TEST_CASE("a call that has begun is waited for, even when everything stops") {
    on_every_backend([](io_context&) -> task<> {
        std::atomic<bool> began = false;
        std::atomic<bool> release = false;
        bool finished = false;
        const auto work = [&] {
            began = true;
            began.notify_all();
            release.wait(false);
        };
        const auto call = [&]() -> task<> {
            const auto done = co_await blocking(work);
            finished = done.ok();
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(call());
            co_await yield();
            began.wait(false);
            group.request_stop();
            release = true;
            release.notify_all();
        };

        co_await with_group(body);

        CHECK(finished);
    });
}
