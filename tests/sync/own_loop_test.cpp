// SPDX-License-Identifier: BSL-1.0
//
// What coroutines wait for belongs to their loop: used from another loop or thread, it says so. Each type
// is tried in both ways in which that happens, beside what is allowed.
#include <gyre/sync/channel.hpp>
#include <gyre/sync/condition.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/mutex.hpp>
#include <gyre/sync/semaphore.hpp>
#include <gyre/sync/task_group.hpp>

#include <base/ending.hpp>
#include <support/harness.hpp>

#include <csignal>
#include <latch>
#include <string_view>
#include <thread>

using namespace gyre;
using namespace gyre::testing;

namespace {

// One of each, and how it is waited for and woken.

struct with_event {
    event it;
    task<> wait() { static_cast<void>(co_await it.wait()); }
    void wake() { it.set(); }
};

struct with_semaphore {
    semaphore it{0};
    task<> wait() { static_cast<void>(co_await it.acquire()); }
    void wake() { it.release(); }
};

struct with_mutex {
    mutex it;
    mutex::guard held = it.try_lock();
    task<> wait() { static_cast<void>(co_await it.lock()); }
    void wake() { held.unlock(); }
};

struct with_condition {
    mutex lock;
    condition it;
    task<> wait() {
        auto locked = co_await lock.lock();
        mutex::guard held = locked.take();
        static_cast<void>(co_await it.wait(held));
    }
    void wake() { it.notify_all(); }
};

struct with_receiver {
    channel<int> it{0};
    task<> wait() { static_cast<void>(co_await it.receive()); }
    void wake() {
        int value = 7;
        static_cast<void>(it.try_send(value));
    }
};

struct with_sender {
    channel<int> it{0};
    task<> wait() { static_cast<void>(co_await it.send(7)); }
    void wake() { it.close(); }
};

/// What a program says whose second thread wakes a coroutine of the first one's loop.
template <class What>
ending wake_from_another_thread() {
    return ending_of([] {
        io_context io;
        What what;
        std::latch waits{1};
        launch(io, what.wait(), or_terminate{});
        io.post([&waits] { waits.count_down(); });  // Behind the coroutine's start.
        std::thread other{[&] {
            waits.wait();
            what.wake();
        }};
        io.run();
        other.join();
    });
}

/// What a program says whose coroutines on two loops wait for the same thing.
template <class What>
ending wait_on_two_loops() {
    return ending_of([] {
        io_context one;
        io_context other;
        What what;
        launch(one, what.wait(), or_terminate{});
        one.poll();
        launch(other, what.wait(), or_terminate{});
        other.poll();
        what.wake();
        one.poll();
        other.poll();
    });
}

template <class What>
void check_wrong_uses_are_told() {
    const ending woken = wake_from_another_thread<What>();
    CHECK(woken.signal == SIGABRT);
    CHECK(woken.said_that("is used on the loop of the coroutines that wait for it"));

    const ending waited = wait_on_two_loops<What>();
    CHECK(waited.signal == SIGABRT);
    CHECK(waited.said_that("is used on the loop of the coroutines that wait for it"));
}

}  // namespace

TEST_CASE("an event that is used on another loop or thread says so") {
    check_wrong_uses_are_told<with_event>();
}

TEST_CASE("a semaphore that is used on another loop or thread says so") {
    check_wrong_uses_are_told<with_semaphore>();
}

TEST_CASE("a mutex that is used on another loop or thread says so") {
    check_wrong_uses_are_told<with_mutex>();
}

TEST_CASE("a condition that is used on another loop or thread says so") {
    check_wrong_uses_are_told<with_condition>();
}

TEST_CASE("a channel that is used on another loop or thread says so") {
    check_wrong_uses_are_told<with_receiver>();
    check_wrong_uses_are_told<with_sender>();
}

TEST_CASE("a child that is spawned by another thread is a failed check") {
    const ending how = ending_of([] {
        io_context io;
        event never;
        task_group* children = nullptr;
        std::latch there{1};
        const auto body = [&](task_group& group) -> task<> {
            children = &group;
            there.count_down();
            static_cast<void>(co_await never.wait());
        };
        const auto program = [&]() -> task<> { co_await with_group(body); };
        launch(io, program(), or_terminate{});
        std::thread other{[&] {
            there.wait();
            children->spawn([]() -> task<> { co_return; });
            io.stop();
        }};
        io.run();
        other.join();
    });

    CHECK(how.signal == SIGABRT);
    CHECK(how.said_that("a group's children are spawned on its loop"));
}

TEST_CASE("a coroutine of a loop that rests may be woken on any thread") {
    with_every_backend([](const io_context_options& options) {
        io_context io{options};
        event ready;
        bool woken = false;
        const auto waits = [&]() -> task<> {
            const io_result<> waited = co_await ready.wait();
            woken = waited.ok();
        };
        launch(io, waits(), or_terminate{});
        io.poll();

        std::thread{[&ready] { ready.set(); }}.join();
        io.run_for(patience);

        CHECK(woken);
    });
}
