// SPDX-License-Identifier: BSL-1.0
//
// What gyre/runtime/thread_pool.hpp and call.hpp promise to the code that uses them.
#include <gyre/runtime/thread_pool.hpp>

#include <base/ending.hpp>
#include <gyre/runtime/call.hpp>
#include <gyre/runtime/io_pool.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <support/disposable.hpp>
#include <support/harness.hpp>
#include <support/thread_stacks.hpp>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <deque>
#include <functional>
#include <latch>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include <pthread.h>
#include <sys/wait.h>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

/// Where two calls wait for each other.
class meeting {
public:
    /// True if the other one came, too, before patience has ended.
    bool attend() {
        std::unique_lock lock{mutex_};
        if (++came_ == 2) both_.notify_one();
        return both_.wait_for(lock, patience / 4, [this] { return came_ == 2; });
    }

private:
    std::mutex mutex_;
    std::condition_variable both_;
    int came_ = 0;
};

task<> attend(meeting& at, int& met) {
    const io_result<bool> came = co_await blocking([&at] { return at.attend(); });
    if (came.ok() && came.value()) ++met;
}

}  // namespace

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

TEST_CASE("what a blocking call starts can be ended by SIGTERM, on a loop of a pool as well") {
    with_every_backend([](const io_context_options& options) {
        const auto ends_itself = [] { return std::system("kill -TERM $$; exit 3"); };
        std::atomic<int> ended = 0;
        const auto call = [&]() -> task<> {
            const io_result<int> status = co_await blocking(ends_itself);
            if (WIFSIGNALED(status.value()) && WTERMSIG(status.value()) == SIGTERM) ++ended;
        };

        io_context io{options};
        launch(io, call(), or_terminate{});
        io.run_for(patience);
        io_pool_options two;
        two.threads = 2;
        two.loop = options;
        io_pool pool{two};
        launch(pool, call(), or_terminate{});
        pool.wait();

        CHECK(ended.load() == 2);
    });
}

TEST_CASE(
    "what the program has blocked is blocked in blocking calls, on a loop of a pool as well") {
    with_every_backend([](const io_context_options& options) {
        const auto is_blocked = [] {
            sigset_t now;
            ::pthread_sigmask(SIG_BLOCK, nullptr, &now);
            return ::sigismember(&now, SIGUSR2) == 1 && ::sigismember(&now, SIGUSR1) == 0;
        };
        std::atomic<int> blocked = 0;
        const auto call = [&]() -> task<> {
            const io_result<bool> there = co_await blocking(is_blocked);
            if (there.value()) ++blocked;
        };
        sigset_t one;
        ::sigemptyset(&one);
        ::sigaddset(&one, SIGUSR2);
        sigset_t before;
        ::pthread_sigmask(SIG_BLOCK, &one, &before);

        io_context io{options};
        launch(io, call(), or_terminate{});
        io.run_for(patience);
        io_pool pool;
        launch(pool, call(), or_terminate{});
        pool.wait();
        ::pthread_sigmask(SIG_SETMASK, &before, nullptr);

        CHECK(blocked.load() == 2);
    });
}

// One worker is idle and about to be woken for the first call when the second one comes.
TEST_CASE("calls that wait for each other both begin, although a worker was idle") {
    for (int round = 0; round < 20; ++round) {
        on_every_backend([](io_context&) -> task<> {
            meeting of_two;
            int met = 0;
            const auto body = [&](task_group& group) -> task<> {
                group.spawn(attend(of_two, met));
                group.spawn(attend(of_two, met));
                co_return;
            };
            static_cast<void>(co_await blocking([] {}));
            static_cast<void>(co_await sleep_for(1ms));  // By now the worker has lain down.

            co_await with_group(body);

            REQUIRE(met == 2);
        });
    }
}

namespace {

// A short call that notes how often it came back.
struct noting_call : call_operation {
    noting_call() noexcept : call_operation{&spin, this} {
        run = [](work& item) noexcept {
            auto& self = static_cast<noting_call&>(static_cast<operation&>(item));
            ++self.resumptions;
            if (++*self.ended == count) self.home->stop();
        };
    }
    static void spin(void*) noexcept { std::this_thread::yield(); }

    static constexpr std::size_t count = 3000;

    std::size_t* ended = nullptr;
    int resumptions = 0;
};

}  // namespace

TEST_CASE("calls that end while another loop cancels them come back once each") {
    with_every_backend([](const io_context_options& options) {
        std::deque<noting_call> calls(noting_call::count);
        io_context io{options};
        const io_context::work_guard guard{io};
        std::size_t ended = 0;
        std::atomic<std::size_t> submitted = 0;
        for (noting_call& each : calls) {
            each.ended = &ended;
            io.post([&] {
                CHECK_FALSE(io.submit(each));
                ++submitted;
                submitted.notify_one();
            });
        }
        const auto cancel_all = [&] {
            for (std::size_t each = 0; each < calls.size(); ++each) {
                submitted.wait(each);
                io.cancel(calls[each]);
            }
        };
        std::thread elsewhere{[&] {
            io_context other{options};
            other.post(cancel_all);
            other.run();
        }};

        io.run_for(patience);
        elsewhere.join();

        CHECK(ended == noting_call::count);
        for (const noting_call& each : calls) {
            REQUIRE(each.resumptions == 1);
            REQUIRE((each.result == 0 || each.result == -ECANCELED));
        }
    });
}

TEST_CASE("a call for which no thread can be started says so, and the next one tries again") {
    on_every_backend([](io_context&) -> task<> {
        bool called = false;
        const auto note = [&called] { called = true; };
        std::optional<thread_stacks> none{thread_stacks::impossible};

        const io_result<> refused = co_await blocking(note);
        const bool called_in_vain = called;
        none.reset();
        const io_result<> done = co_await blocking(note);

        CHECK(refused.error() == errc::resource_unavailable);
        CHECK(refused.error().during() == activity::call);
        CHECK_FALSE(called_in_vain);
        CHECK(done.ok());
        CHECK(called);
    });
}

TEST_CASE("where no further thread can be started, calls wait for the worker there is") {
    on_every_backend([](io_context&) -> task<> {
        static_cast<void>(co_await blocking([] {}));
        const thread_stacks none{thread_stacks::impossible};
        std::atomic<bool> release = false;
        int done = 0;
        const auto first = [&]() -> task<> {
            const io_result<> ended = co_await blocking([&release] { release.wait(false); });
            if (ended.ok()) ++done;
        };
        const auto second = [&]() -> task<> {
            const io_result<> ended = co_await blocking([] {});
            if (ended.ok()) ++done;
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(first());
            group.spawn(second());
            group.spawn(second());
            co_await yield();
            release = true;
            release.notify_all();
        };

        co_await with_group(body);

        CHECK(done == 3);
    });
}

namespace {

disposable call_in_frame(std::function<void()> function) {
    static_cast<void>(co_await blocking(std::move(function)));
    FAIL_CHECK("resumed after its end");
}

}  // namespace

TEST_CASE("a frame that is destroyed before its call has begun takes the call along") {
    with_every_backend([](io_context_options options) {
        options.worker_threads_max = 1;
        io_context io{options};
        std::latch go{1};
        bool called = false;
        const auto hold = [&]() -> task<> {
            const auto wait = [&go] { go.wait(); };
            CHECK((co_await blocking(wait)).ok());
        };
        launch(io, hold(), or_terminate{});
        static_cast<void>(io.poll());
        stop_chain chain;
        const environment surroundings{io, &io, &chain};
        const disposable caller = call_in_frame([&called] { called = true; });
        caller.frame.promise().env = &surroundings;
        gyre::resume(caller.frame);

        caller.frame.destroy();
        go.count_down();
        io.run_for(patience);

        CHECK_FALSE(called);
        CHECK(chain.pending() == nullptr);
    });
}

TEST_CASE("a frame that is destroyed while its call runs is a failed check that says so") {
    const auto destroy = [] {
        io_context io;
        std::latch begun{1};
        std::latch never{1};
        stop_chain chain;
        const environment surroundings{io, &io, &chain};
        const disposable caller = call_in_frame([&] {
            begun.count_down();
            never.wait();
        });
        caller.frame.promise().env = &surroundings;
        gyre::resume(caller.frame);
        begun.wait();
        caller.frame.destroy();
    };

    const ending how = ending_of(destroy);

    CHECK(how.signal == SIGABRT);
    CHECK(how.said_that("the function that it has given to blocking() runs"));
}
