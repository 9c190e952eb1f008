// SPDX-License-Identifier: BSL-1.0
//
// What gyre/runtime/io_context.hpp promises beyond the laws of its backends.
#include <gyre/runtime/io_context.hpp>

#include <base/ending.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <support/harness.hpp>
#include <support/settle.hpp>

#include <signal.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <latch>
#include <optional>
#include <semaphore>
#include <thread>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

TEST_CASE("run returns at once when there is nothing to do") {
    with_every_backend([](const io_context_options& options) {
        io_context io{options};
        CHECK(io.run() == 0);
    });
}

TEST_CASE("posted functions run in order, once, and run counts them") {
    with_every_backend([](const io_context_options& options) {
        io_context io{options};
        std::vector<int> order;
        for (int name = 0; name < 1000; ++name) io.post([&order, name] { order.push_back(name); });

        CHECK(io.run() == 1000);

        CHECK(std::is_sorted(order.begin(), order.end()));
        CHECK(order.size() == 1000);
    });
}

TEST_CASE("what is posted from within runs after what was there before") {
    with_every_backend([](const io_context_options& options) {
        io_context io{options};
        std::vector<int> order;
        io.post([&] {
            io.post([&] { order.push_back(3); });
            order.push_back(1);
        });
        io.post([&] { order.push_back(2); });

        io.run();

        CHECK(order == std::vector{1, 2, 3});
    });
}

TEST_CASE("run_one runs one item, poll only what needs no waiting") {
    with_every_backend([](const io_context_options& options) {
        io_context io{options};
        int ran = 0;
        for (int each = 0; each < 3; ++each) io.post([&] { ++ran; });
        CHECK(io.run_one() == 1);
        CHECK(ran == 1);
        bool slept = false;
        const auto sleeper = [&]() -> task<> {
            const auto done = co_await sleep_for(5ms);
            slept = done.ok();
        };
        launch(io, sleeper(), or_terminate{});

        io.poll();

        CHECK(ran == 3);
        CHECK_FALSE(slept);
        CHECK(io.next_deadline() > io.now());
        io.run();
        CHECK(slept);
    });
}

TEST_CASE("stop ends run with everything kept, restart goes on") {
    with_every_backend([](const io_context_options& options) {
        io_context io{options};
        int ran = 0;
        io.post([&] {
            ++ran;
            io.stop();
        });
        io.post([&] { ++ran; });

        io.run();
        CHECK(ran == 1);
        CHECK(io.stopped());
        CHECK(io.run() == 0);
        io.restart();
        io.run();

        CHECK(ran == 2);
    });
}

TEST_CASE("stop from another thread ends a loop that sleeps") {
    with_every_backend([](const io_context_options& options) {
        io_context io{options};
        const io_context::work_guard guard{io};
        std::latch running{1};
        io.post([&] { running.count_down(); });
        std::thread other{[&] {
            running.wait();
            io.stop();
        }};

        io.run();
        other.join();

        CHECK(io.stopped());
    });
}

TEST_CASE("a work guard keeps run from returning, and its end lets it") {
    with_every_backend([](const io_context_options& options) {
        io_context io{options};
        int ran = 0;
        std::thread other{[&, guard = io_context::work_guard{io}]() mutable {
            io.post([&] { ++ran; });
            const io_context::work_guard ends_here{std::move(guard)};
        }};

        io.run();
        other.join();
        io.run();

        CHECK(ran == 1);
    });
}

TEST_CASE("a coroutine that always has something to do does not starve timers or others") {
    with_every_backend([](const io_context_options& options) {
        io_context io{options};
        bool over = false;
        long turns = 0;
        const auto busy = [&]() -> task<> {
            while (!over) {
                ++turns;
                co_await yield();
            }
        };
        const auto timer = [&]() -> task<> {
            static_cast<void>(co_await sleep_for(3ms));
            over = true;
        };
        launch(io, busy(), or_terminate{});
        launch(io, timer(), or_terminate{});

        io.run_for(patience);

        CHECK(over);
        CHECK(turns > 1);
    });
}

TEST_CASE("running for no time at all looks at timers and at the kernel") {
    with_every_backend([](const io_context_options& options) {
        io_context io{options};
        bool over = false;
        const auto body = [&]() -> task<> {
            socket_pair ends = local_pair(io);
            static_cast<void>(co_await sleep_for(1ms));
            std::array<std::byte, 1> byte{};
            static_cast<void>(co_await write_all(ends.client, byte));
            over = (co_await ends.server.read_some(mutable_buffer{byte})).ok();
        };
        launch(io, body(), or_terminate{});
        const time_point end = io.read_clock() + patience;
        while (!over && io.read_clock() < end) io.run_for(0ms);
        CHECK(over);
    });
}

TEST_CASE("running one item at a time looks at timers now and then") {
    with_every_backend([](const io_context_options& options) {
        io_context io{options};
        bool over = false;
        const auto busy = [&]() -> task<> {
            while (!over) co_await yield();
        };
        const auto timer = [&]() -> task<> {
            static_cast<void>(co_await sleep_for(1ms));
            over = true;
        };
        launch(io, busy(), or_terminate{});
        launch(io, timer(), or_terminate{});
        const time_point end = io.read_clock() + patience;
        while (io.run_one() > 0 && io.read_clock() < end) continue;
        CHECK(over);
    });
}

TEST_CASE("a handler may stop the loop whose end has ended its root") {
    with_every_backend([](const io_context_options& options) {
        int ended = 0;
        {
            io_context io{options};
            const auto waits = []() -> task<> { static_cast<void>(co_await sleep_for(1h)); };
            for (int each = 0; each < 2; ++each) {
                launch(io, waits(), [&](task_outcome<void>) {
                    ++ended;
                    io.stop();
                });
            }
            io.run_for(1ms);
        }
        CHECK(ended == 2);
    });
}

TEST_CASE("a timer waits for the items of a turn at most, and not for all that wait to compute") {
    with_every_backend([](const io_context_options& options) {
        constexpr int coroutines = 300;  // More than a turn runs at all.
        constexpr int items_max = 24;    // What a turn may run before it reads the clock, and some.
        io_context io{options};
        int items = 0;
        int items_when_due = -1;
        time_point due = never;
        bool over = false;
        const auto busy = [&]() -> task<> {
            while (!over) {
                compute_for(100us);
                ++items;
                if (items_when_due < 0 && io.read_clock() >= due) items_when_due = items;
                co_await yield();
            }
        };
        const auto timer = [&]() -> task<> {
            for (int sleeps = 0; sleeps < 10; ++sleeps) {
                items_when_due = -1;
                due = io.read_clock() + 1ms;
                static_cast<void>(co_await sleep_until(due));
                CHECK(items - items_when_due <= items_max);
            }
            over = true;
        };
        launch(io, timer(), or_terminate{});
        for (int each = 0; each < coroutines; ++each) launch(io, busy(), or_terminate{});

        io.run_for(patience);

        CHECK(over);
    });
}

TEST_CASE("timers that compute for whole turns leave every other turn to the rest") {
    with_every_backend([](const io_context_options& options) {
        constexpr int coroutines = 32;  // More than a turn runs before it reads the clock.
        io_context io{options};
        int yields = 0;
        const auto patient = [&]() -> task<> {
            static_cast<void>(co_await sleep_for(5ms));  // The others are at it by then.
            for (; yields < 8; ++yields) co_await yield();
        };
        const auto periodic = [&]() -> task<> {
            while (yields < 8) {
                static_cast<void>(co_await sleep_for(1ns));
                compute_for(200us);
            }
        };
        for (int each = 0; each < coroutines; ++each) launch(io, periodic(), or_terminate{});
        launch(io, patient(), or_terminate{});

        io.run_for(5s);

        CHECK(yields == 8);
        yields = 8;
    });
}

TEST_CASE("the clock stands still within an item and moves between turns") {
    with_every_backend([](const io_context_options& options) {
        io_context io{options};
        time_point before;
        time_point after;
        const auto watch = [&]() -> task<> {
            before = io.now();
            CHECK(io.now() == before);
            static_cast<void>(co_await sleep_for(2ms));
            after = io.now();
        };
        launch(io, watch(), or_terminate{});

        io.run();

        CHECK(after - before >= 2ms);
    });
}

TEST_CASE("one loop may run inside an item of another") {
    with_every_backend([](const io_context_options& options) {
        io_context outer{options};
        int inner_ran = 0;
        outer.post([&] {
            io_context inner{options};
            inner.post([&] { ++inner_ran; });
            CHECK(outer.running_on_this_thread());
            inner.run();
            CHECK(outer.running_on_this_thread());
        });

        outer.run();

        CHECK(inner_ran == 1);
    });
}

TEST_CASE("a loop that never ran is destroyed with what was posted to it") {
    with_every_backend([](const io_context_options& options) {
        int ran = 0;
        int ended = 0;
        {
            io_context io{options};
            io.post([&] { ++ran; });
            const auto sleeper = []() -> task<> { static_cast<void>(co_await sleep_for(1h)); };
            launch(io, sleeper(), [&](task_outcome<void> outcome) {
                outcome.get();
                ++ended;
            });
        }
        CHECK(ran == 1);
        CHECK(ended == 1);
    });
}

TEST_CASE("the backend is the one that was asked for, and says so") {
    with_every_backend([](const io_context_options& options) {
        const io_context io{options};
        CHECK(io.backend().kind == options.backend);
        CHECK_FALSE(io.backend().reason.empty());
        CHECK_FALSE(io.status());
    });
}

TEST_CASE("GYRE_BACKEND chooses where the program leaves the choice") {
    REQUIRE(::setenv("GYRE_BACKEND", "epoll", 1) == 0);
    const io_context by_environment;
    io_context_options options;
    options.backend = backend_choice::uring_c;
    const io_context by_option{options};
    REQUIRE(::setenv("GYRE_BACKEND", "nonsense", 1) == 0);
    const io_context by_default;
    REQUIRE(::unsetenv("GYRE_BACKEND") == 0);

    CHECK(by_environment.backend().kind == backend_choice::epoll);
    CHECK(by_environment.backend().reason == "epoll required by GYRE_BACKEND");
    CHECK(by_option.backend().kind == backend_choice::uring_c);
    CHECK_FALSE(by_default.status());
}

namespace {

task<> note_time_after(io_context& io, duration wait, time_point& woken) {
    static_cast<void>(co_await sleep_for(wait));
    woken = io.now();
}

}  // namespace

TEST_CASE("timers within the slack of the nearest one share its awakening (io_uring only)") {
    with_every_backend([](io_context_options options) {
        if (options.backend == backend_choice::epoll) return;  // There it is the kernel's own.
        options.timer_slack = 15ms;
        io_context io{options};
        std::array<time_point, 3> woken{};
        const time_point begun = io.now();  // What the timers are counted from, or earlier.
        launch(io, note_time_after(io, 1ms, woken[0]), or_terminate{});
        launch(io, note_time_after(io, 5ms, woken[1]), or_terminate{});
        launch(io, note_time_after(io, 10ms, woken[2]), or_terminate{});

        io.run();

        CHECK(woken[0] == woken[1]);
        CHECK(woken[1] == woken[2]);
        CHECK(woken[0] - begun >= 16ms);
    });
}

TEST_CASE("a timer that is due at once does not send the loop to sleep, with its slack on top") {
    with_every_backend([](io_context_options options) {
        if (options.backend == backend_choice::epoll) return;  // There it is the kernel's own.
        options.timer_slack = 5s;
        io_context io{options};
        time_point woken{};
        const time_point begun = io.now();
        const auto wait_often = [&]() -> task<> {
            for (int each = 0; each < 200; ++each) co_await note_time_after(io, 1900ns, woken);
        };
        launch(io, wait_often(), or_terminate{});

        io.run();

        CHECK(woken - begun >= 200 * 1900ns);
        CHECK(woken - begun < 5s);
    });
}

TEST_CASE("a poll comes to an end although the queue never does, and says that something is left") {
    with_every_backend([](const io_context_options& options) {
        constexpr int steps_max = 3'000'000;
        io_context io{options};
        int steps = 0;
        bool over = false;
        const auto go_on = [&]() -> task<> {
            for (; !over && steps < steps_max; ++steps) co_await yield();
        };
        launch(io, go_on(), or_terminate{});
        launch(io, go_on(), or_terminate{});

        CHECK(io.poll() > 0);

        CHECK(steps < steps_max);
        CHECK(io.next_deadline() <= io.now());
        over = true;
        io.run();
    });
}

TEST_CASE("an outer loop is told that a cancel from another loop waits to be carried out") {
    with_every_backend([](const io_context_options& options) {
        io_context io{options};
        auto [near, far] = local_pair(io);
        stream_socket& from = near;
        error outcome;
        const auto read = [&]() -> task<> {
            std::array<std::byte, 8> space{};
            const auto got = co_await from.read_some(mutable_buffer{space});
            outcome = got.error();
        };
        launch(io, read(), or_terminate{});
        io.poll();
        CHECK(io.next_deadline() == never);

        std::thread elsewhere{[&] {
            io_context other{options};
            other.post([&] { io.roots().front().chain.request(stop_level::stop); });
            other.poll();
        }};
        elsewhere.join();

        CHECK(io.next_deadline() <= io.now());
        io.run();
        CHECK(outcome == errc::canceled);
    });
}

TEST_CASE("what runs with an item makes no visit to the kernel, and says that one is due") {
    with_every_backend([](const io_context_options& options) {
        io_context io{options};
        auto [near, far] = local_pair(io);
        stream_socket& from = near;
        bool got_all = false;
        const auto read = [&]() -> task<> {
            std::array<std::byte, 8> space{};
            const auto first = co_await from.read_some(mutable_buffer{space});
            const auto second = co_await from.read_some(mutable_buffer{space});
            got_all = first.ok() && second.ok();
        };
        int ran = 0;
        io.poll();
        const std::uint64_t visits_before = io.counters().visits;

        launch(io, read(), or_terminate{});
        work& item = io_context::make_work([&ran] { ++ran; });
        CHECK(io.run_with(io, item) == 2);

        CHECK(ran == 1);
        CHECK(io.counters().visits == visits_before);
        const bool is_epoll = io.backend().kind == backend_choice::epoll;
        CHECK((io.next_deadline() <= io.now()) == !is_epoll);  // epoll was told at once.
        CHECK(::send(far.native_handle(), "one", 3, 0) == 3);
        while (!io.roots().empty()) {
            io.poll();
            static_cast<void>(::send(far.native_handle(), "two", 3, MSG_NOSIGNAL));
        }
        CHECK(got_all);
    });
}

namespace {

// Counts what an outer loop would be told.
struct counting_hook : wake_hook {
    counting_hook()
        : wake_hook{[](wake_hook& self) noexcept { ++static_cast<counting_hook&>(self).calls; }} {}
    std::atomic<int> calls = 0;
};

}  // namespace

TEST_CASE(
    "a wake hook is called once for what is posted between two polls, and not inside of one") {
    with_every_backend([](const io_context_options& options) {
        io_context io{options};
        counting_hook hook;
        io.set_wake_hook(&hook);
        int ran = 0;

        io.post([&] { ++ran; });
        io.post([&] { ++ran; });
        CHECK(hook.calls == 1);
        io.poll();
        CHECK(ran == 2);
        CHECK(hook.calls == 1);

        io.post([&] { io.post([&] { ++ran; }); });
        CHECK(hook.calls == 2);
        io.poll();
        CHECK(ran == 3);
        CHECK(hook.calls == 2);
        io.set_wake_hook(nullptr);
        io.post([&] { ++ran; });
        io.poll();
        CHECK(ran == 4);
        CHECK(hook.calls == 2);
    });
}

TEST_CASE("no post from another thread is lost between a poll and its hook") {
    with_every_backend([](const io_context_options& options) {
        constexpr int posts = 20'000;
        struct polling_hook : wake_hook {
            polling_hook()
                : wake_hook{[](wake_hook& self) noexcept {
                      auto& it = static_cast<polling_hook&>(self);
                      it.due.store(true);
                      it.due.notify_one();
                  }} {}
            std::atomic<bool> due = false;
        };
        io_context io{options};
        polling_hook hook;
        io.set_wake_hook(&hook);
        int ran = 0;
        std::thread poster{[&] {
            for (int each = 0; each < posts; ++each) io.post([&ran] { ++ran; });
        }};
        while (ran < posts) {
            // Only what the hook or the loop itself asks for: a wake-up that is lost hangs here.
            if (io.next_deadline() == never) hook.due.wait(false);
            hook.due.store(false);
            io.poll();
        }
        poster.join();
        io.set_wake_hook(nullptr);
        CHECK(ran == posts);
    });
}

TEST_CASE("a wake hook is not taken back while another thread is inside of it") {
    struct slow_hook : wake_hook {
        slow_hook()
            : wake_hook{[](wake_hook& self) noexcept {
                  auto& it = static_cast<slow_hook&>(self);
                  it.entered.count_down();
                  it.about_to_be_taken_back.wait();
                  // That it does not come, only time can tell.
                  it.outlived = it.taken_back.try_acquire_for(10ms);
              }} {}
        std::latch entered{1};
        std::latch about_to_be_taken_back{1};
        std::binary_semaphore taken_back{0};
        bool outlived = false;
    };
    with_every_backend([](const io_context_options& options) {
        io_context io{options};
        slow_hook hook;
        io.set_wake_hook(&hook);
        bool ran = false;
        std::thread poster{[&] { io.post([&ran] { ran = true; }); }};
        hook.entered.wait();

        io.poll();
        CHECK(ran);  // Its item is over, but the poster has not left.
        hook.about_to_be_taken_back.count_down();
        io.set_wake_hook(nullptr);
        hook.taken_back.release();

        poster.join();
        CHECK_FALSE(hook.outlived);
    });
}

TEST_CASE("a loop that runs and sleeps is woken through its backend, hook or not") {
    with_every_backend([](const io_context_options& options) {
        io_context io{options};
        counting_hook hook;
        io.set_wake_hook(&hook);
        int ran = 0;
        std::thread poster{[&, guard = io_context::work_guard{io}] {
            CHECK(eventually([&io] { return io.asleep() && io.counters().turns > 0; }));
            io.post([&ran] { ++ran; });
        }};
        io.run_for(patience);
        poster.join();
        io.set_wake_hook(nullptr);
        CHECK(ran == 1);
    });
}

TEST_CASE("a guard that outlives its loop says so") {
    const ending how = ending_of([] {
        io_context::work_guard open;
        io_context io;
        open = io_context::work_guard{io};
    });
    CHECK(how.signal == SIGABRT);
    CHECK(how.said_that("a work_guard does not outlive its loop"));
}

TEST_CASE("the last guard, taken away while the loop is about to sleep, lets it end") {
    with_every_backend([](io_context_options options) {
        for (const duration spin : {duration{}, duration{20ms}}) {
            options.spin_max = spin;
            for (int round = 0; round < 50; ++round) {
                io_context io{options};
                std::optional<io_context::work_guard> guard{std::in_place, io};
                std::thread other{[&] {
                    while (io.counters().turns == 0) std::this_thread::yield();
                    guard.reset();
                }};
                io.run();  // Or for ever.
                other.join();
                CHECK_FALSE(io.has_work());
                if (spin > duration{} && round == 4) break;
            }
        }
    });
}
