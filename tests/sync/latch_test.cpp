// SPDX-License-Identifier: BSL-1.0
//
// What gyre/sync/latch.hpp promises. How its wait ends when stopped: waiting_laws_test.cpp.
#include <gyre/sync/latch.hpp>

#include <gyre/sync/task_group.hpp>
#include <support/pools.hpp>
#include <support/settle.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

task<> note(latch& on, int& passed) {
    const io_result<> waited = co_await on.wait();
    if (waited.ok()) ++passed;
}

task<> count_down(latch& on) {
    on.count_down();
    co_return;
}

}  // namespace

TEST_CASE("a latch opens when it has counted down, and stays open") {
    on_every_backend([](io_context&) -> task<> {
        latch on{3};
        int passed = 0;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(note(on, passed));
            group.spawn(note(on, passed));
            on.count_down(2);
            co_await settle();
            CHECK(passed == 0);
            CHECK_FALSE(on.try_wait());
            on.count_down();
            co_await settle();
            CHECK(passed == 2);
        };

        co_await with_group(body);
        const io_result<> later = co_await on.wait();

        CHECK(later.ok());
        CHECK(on.try_wait());
    });
}

TEST_CASE("a latch of nothing is open") { CHECK(latch{0}.try_wait()); }

TEST_CASE("storm: who has waited for a latch may destroy it while others are still counting down") {
    with_pools(2, [](io_context& io, io_pool& pool) {
        constexpr int rounds = 500;
        int passed = 0;
        const auto wait = [&]() -> task<> {
            for (int round = 0; round < rounds; ++round) {
                auto on = std::make_unique<latch>(2U);
                launch(pool[0], count_down(*on), or_terminate{});
                launch(pool[1], count_down(*on), or_terminate{});
                const io_result<> waited = co_await on->wait();
                if (waited.ok()) ++passed;
            }
        };

        run_here(io, wait());

        CHECK(passed == rounds);
    });
}

TEST_CASE("a thread waits for coroutines to count down, until its deadline") {
    with_every_backend([](const io_context_options& options) {
        io_context io{options};
        latch on{1};
        const io_result<> early = on.wait_blocking(std::chrono::steady_clock::now() + 1ms);
        launch(io, count_down(on), or_terminate{});
        std::thread other{[&] { io.run(); }};

        const io_result<> waited = on.wait_blocking();
        other.join();

        CHECK(early.error() == errc::timed_out);
        CHECK(waited.ok());
    });
}
