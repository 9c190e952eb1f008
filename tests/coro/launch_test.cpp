// SPDX-License-Identifier: BSL-1.0
//
// What gyre/coro/launch.hpp promises: how coroutines begin, are stopped and are heard of.
#include <gyre/coro/launch.hpp>

#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <support/harness.hpp>

#include <coro/manual_loop.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

struct diary {
    diary(std::vector<std::string>& in, const char* name) : in_{&in}, name_{name} {}
    diary(diary&& other) noexcept : in_{std::exchange(other.in_, nullptr)}, name_{other.name_} {}
    ~diary() {
        if (in_ != nullptr) in_->push_back(name_);
    }

private:
    std::vector<std::string>* in_;
    const char* name_;
};

task<int> write_in(std::vector<std::string>& pages, diary) {
    pages.push_back("body");
    co_return 5;
}

task<io_result<>> wait_for(event& until) {
    const io_result<> waited = co_await until.wait();
    co_return waited;
}

task<> do_nothing() { co_return; }

task<> sleep_long() { static_cast<void>(co_await sleep_for(1h)); }

}  // namespace

TEST_CASE("the handler is called once, with the value, after the end and before the frame dies") {
    manual_loop loop;
    std::vector<std::string> pages;
    int value = 0;

    launch(loop, write_in(pages, diary{pages, "frame dies"}), [&](task_outcome<int> outcome) {
        pages.push_back("handler");
        value = outcome.get();
    });
    loop.run();

    CHECK(pages == std::vector<std::string>{"body", "handler", "frame dies"});
    CHECK(value == 5);
}

TEST_CASE("a launched coroutine begins when the loop runs, not inside launch") {
    manual_loop loop;
    std::vector<std::string> pages;

    launch(loop, write_in(pages, diary{pages, "frame dies"}), or_terminate{});

    CHECK(pages.empty());
    loop.run();
    CHECK(pages.size() == 2);
}

TEST_CASE("a root is listed from its start until its end, and not in its handler") {
    manual_loop loop;
    event until;
    std::size_t roots_in_handler = 99;
    CHECK(loop.roots().empty());
    const auto look = [&](task_outcome<io_result<>>) { roots_in_handler = loop.roots().size(); };

    launch(loop, wait_for(until), look);
    launch(loop, do_nothing(), or_terminate{});
    loop.run();
    CHECK(loop.roots().size() == 1);
    until.set();
    loop.run();

    CHECK(roots_in_handler == 0);
    CHECK(loop.roots().empty());
}

TEST_CASE("a handler may launch the next coroutine") {
    on_every_backend([](io_context& io) -> task<> {
        int rounds = 0;
        event over;
        const std::function<void(task_outcome<void>)> again = [&](task_outcome<void>) {
            if (++rounds == 100) {
                over.set();
            } else {
                launch(io, do_nothing(), again);
            }
        };
        launch(io, do_nothing(), again);

        static_cast<void>(co_await over.wait());

        CHECK(rounds == 100);
    });
}

TEST_CASE("what the handler holds is let go when it has run, however long a handle lives") {
    manual_loop loop;
    const auto held = std::make_shared<int>(1);
    const auto keep = [held](task_outcome<void>) {};

    const stop_handle handle = launch(loop, do_nothing(), keep);
    CHECK(held.use_count() == 3);
    loop.run();

    CHECK(handle.ended());
    CHECK(held.use_count() == 2);  // Here and in `keep`.
}

TEST_CASE("a handle without a coroutine has ended, and its requests do nothing") {
    const stop_handle none;
    const stop_handle copy = none;

    none.request_drain();
    copy.request_stop();

    CHECK(none.ended());
    CHECK(copy.ended());
}

TEST_CASE("a stop ends a pending wait, and a drain leaves it alone") {
    manual_loop loop;
    event never;
    std::optional<error> outcome;
    const stop_handle stop = launch(loop, wait_for(never), [&](task_outcome<io_result<>> ended) {
        outcome = ended.get().error();
    });
    loop.run();

    stop.request_drain();
    loop.run();
    CHECK_FALSE(outcome);
    CHECK_FALSE(stop.ended());
    stop.request_stop();
    loop.run();

    CHECK(outcome == errc::canceled);
    CHECK(stop.ended());
}

TEST_CASE("a coroutine that is stopped before it starts runs, and its first wait is canceled") {
    manual_loop loop;
    event never;
    std::optional<error> outcome;

    launch(loop, wait_for(never), [&](task_outcome<io_result<>> ended) {
        outcome = ended.get().error();
    }).request_stop();
    loop.run();

    CHECK(outcome == errc::canceled);
}

TEST_CASE("a stop after the end, or several stops, change nothing") {
    manual_loop loop;
    event until;
    int handled = 0;
    const auto count = [&](task_outcome<io_result<>> ended) {
        CHECK(ended.get().ok());
        ++handled;
    };
    const stop_handle stop = launch(loop, wait_for(until), count);
    loop.run();
    until.set();
    loop.run();

    for (int i = 0; i < 3; ++i) stop.request_stop();
    loop.run();

    CHECK(handled == 1);
}

TEST_CASE("a stop posted before the end and carried out after it does no harm") {
    manual_loop loop;
    event until;
    int handled = 0;
    {
        const stop_handle stop =
            launch(loop, wait_for(until), [&](task_outcome<io_result<>> ended) {
                CHECK(ended.get().ok());
                ++handled;
            });
        loop.run();
        until.set();  // The end is ready first,
        stop.request_stop();
    }  // and the message is all that keeps the record.
    loop.run();

    CHECK(handled == 1);
    CHECK(loop.idle());
}

TEST_CASE("copies of a handle mean the same coroutine, and outlive it") {
    std::optional<stop_handle> kept;
    {
        manual_loop loop;
        event never;
        stop_handle first = launch(loop, wait_for(never), or_terminate{});
        stop_handle second = first;
        const stop_handle third = std::move(first);
        CHECK(first.ended());  // Moved from: without a coroutine.
        second = third;
        second = std::as_const(second);  // To itself.
        loop.run();
        kept = second;
        CHECK_FALSE(kept->ended());

        second.request_stop();
        loop.run();
    }

    CHECK(kept->ended());
    kept->request_stop();
}

TEST_CASE("a drain that becomes a stop before the loop hears of it is a stop") {
    manual_loop loop;
    event never;
    const stop_handle stop = launch(loop, wait_for(never), or_terminate{});
    loop.run();

    stop.request_stop();
    stop.request_drain();
    const std::size_t ran = loop.run();

    CHECK(stop.ended());
    CHECK(ran == 2);  // One message for both requests, and the end of the wait.
}

TEST_CASE("coroutines are launched from many threads, and handled on the loop's own") {
    with_every_backend([](const io_context_options& options) {
        constexpr int threads = 4;
        constexpr int each = 500;
        io_context io{options};
        int handled = 0;
        bool elsewhere = false;
        std::optional<io_context::work_guard> guard{io};
        const auto count = [&](task_outcome<void>) {
            elsewhere = elsewhere || !io.running_on_this_thread();
            if (++handled == threads * each) guard.reset();
        };
        std::vector<std::thread> launchers;
        for (int i = 0; i < threads; ++i) {
            launchers.emplace_back([&] {
                for (int n = 0; n < each; ++n) launch(io, do_nothing(), count);
            });
        }

        io.run_for(patience);
        for (std::thread& it : launchers) it.join();

        CHECK(handled == threads * each);
        CHECK_FALSE(elsewhere);
    });
}

TEST_CASE("many threads stop many coroutines while these begin and end") {
    with_every_backend([](const io_context_options& options) {
        constexpr int threads = 3;
        constexpr int rounds = 200;
        io_context io{options};
        int canceled = 0;
        const auto note = [&](task_outcome<void>) { ++canceled; };
        std::vector<stop_handle> handles;
        for (int i = 0; i < rounds; ++i) handles.push_back(launch(io, sleep_long(), note));
        std::vector<std::thread> stoppers;
        for (int i = 0; i < threads; ++i) {
            stoppers.emplace_back([copies = handles, i] {
                for (const stop_handle& it : copies) {
                    if (i == 0) it.request_drain();
                    it.request_stop();
                    const stop_handle copy = it;
                    static_cast<void>(copy.ended());
                }
            });
        }
        handles.clear();

        io.run_for(patience);
        for (std::thread& it : stoppers) it.join();

        CHECK(canceled == rounds);
    });
}

TEST_CASE("a coroutine on a loop that dies is stopped, and its handler is called") {
    with_every_backend([](const io_context_options& options) {
        int handled = 0;
        const auto count = [&](task_outcome<void>) { ++handled; };
        stop_handle outliving;
        {
            io_context io{options};
            outliving = launch(io, sleep_long(), count);
            io.poll();
            CHECK_FALSE(outliving.ended());
        }

        CHECK(handled == 1);
        CHECK(outliving.ended());
    });
}

TEST_CASE("a coroutine on a loop that dies before it ran begins, is stopped at once, and ends") {
    with_every_backend([](const io_context_options& options) {
        int handled = 0;
        const auto count = [&](task_outcome<void>) { ++handled; };
        {
            io_context io{options};
            launch(io, sleep_long(), count);
        }

        CHECK(handled == 1);
    });
}

TEST_CASE("a coroutine that a handler launches while its loop dies is stopped as well") {
    with_every_backend([](const io_context_options& options) {
        int handled = 0;
        const auto count = [&](task_outcome<void>) { ++handled; };
        {
            io_context io{options};
            const auto launch_another = [&](task_outcome<void>) {
                launch(io, sleep_long(), count);
            };
            launch(io, sleep_long(), launch_another);
            io.poll();
        }

        CHECK(handled == 1);
    });
}

TEST_CASE("a loop runs a coroutine in the background, does not wait for it, and ends it") {
    with_every_backend([](const io_context_options& options) {
        int handled = 0;
        bool began = false;
        const auto count = [&](task_outcome<void>) { ++handled; };
        const auto serve = [&]() -> task<> {
            began = true;
            co_await sleep_long();
        };
        {
            io_context io{options};
            const stop_handle background = launch_in_background(io, serve(), count);
            launch(
                io, [&]() -> task<> { static_cast<void>(co_await sleep_for(1ms)); },
                or_terminate{});

            io.run();

            CHECK(began);
            CHECK(handled == 0);
            CHECK_FALSE(io.has_work());
            CHECK(dump_tasks(io).find("sleep") != std::string::npos);
            CHECK_FALSE(background.ended());
        }
        CHECK(handled == 1);
    });
}

TEST_CASE("a coroutine in the background ends when its handle stops it") {
    with_every_backend([](const io_context_options& options) {
        int handled = 0;
        const auto count = [&](task_outcome<void>) { ++handled; };
        io_context io{options};
        const stop_handle background = launch_in_background(io, sleep_long(), count);
        io.run();
        CHECK(handled == 0);

        background.request_stop();
        io.run();

        CHECK(handled == 1);
        CHECK(io.roots().empty());
    });
}
