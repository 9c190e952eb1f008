// SPDX-License-Identifier: BSL-1.0
//
// How a user's exception travels through coroutines: through task, branches and launch, to the
// awaiter. Built where exceptions are on.
#include <gyre/coro/launch.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/when_all.hpp>

#include <base/ending.hpp>
#include <coro/manual_loop.hpp>

#include <doctest/doctest.h>

#include <csignal>
#include <stdexcept>
#include <string>
#include <utility>

using namespace gyre;
using namespace gyre::testing;

namespace {

struct counted {
    explicit counted(int& alive) noexcept : alive_{alive} { ++alive_; }
    counted(const counted&) = delete;
    ~counted() { --alive_; }

private:
    int& alive_;
};

[[noreturn]] void refuse() { throw std::runtime_error{"refused"}; }

task<int> throw_at_once(int& alive) {
    const counted local{alive};
    refuse();
    co_return 1;
}

task<int> throw_after(event& until, int& alive) {
    const counted local{alive};
    static_cast<void>(co_await until.wait());
    refuse();
    co_return 1;
}

task<int> pass_on(task<int> below, int& alive) {
    const counted local{alive};
    const int value = co_await std::move(below);
    co_return value;
}

// A value whose move throws when the bomb is armed.
struct bomb {
    bomb() = default;
    bomb(bomb&& other) : armed{other.armed} {
        if (armed) refuse();
    }
    bool armed = false;
};

task<bomb> deliver_bomb() {
    bomb it;
    it.armed = true;
    co_return it;
}

std::string caught(task_outcome<int> outcome) {
    try {
        return std::to_string(outcome.get());
    } catch (const std::runtime_error& error) {
        return error.what();
    }
}

}  // namespace

TEST_CASE("an exception travels through every awaiting coroutine, whose locals die on the way") {
    manual_loop loop;
    int alive = 0;
    std::string seen;

    launch(loop, pass_on(pass_on(throw_at_once(alive), alive), alive),
           [&](task_outcome<int> outcome) { seen = caught(outcome); });
    loop.run();

    CHECK(seen == "refused");
    CHECK(alive == 0);
}

TEST_CASE("an exception after a suspension travels as well") {
    manual_loop loop;
    event until;
    int alive = 0;
    std::string seen;
    launch(loop, pass_on(throw_after(until, alive), alive),
           [&](task_outcome<int> outcome) { seen = caught(outcome); });
    loop.run();
    CHECK(alive == 2);

    until.set();
    loop.run();

    CHECK(seen == "refused");
    CHECK(alive == 0);
    CHECK(loop.roots().empty());
}

TEST_CASE("a coroutine that catches goes on, and awaits again") {
    manual_loop loop;
    int alive = 0;
    int caught_times = 0;
    const auto body = [&]() -> task<> {
        for (int i = 0; i < 3; ++i) {
            try {
                const int value = co_await throw_at_once(alive);
                CHECK(value == 0);
            } catch (const std::runtime_error&) {
                ++caught_times;
            }
        }
    };

    launch(loop, body(), or_terminate{});
    loop.run();

    CHECK(caught_times == 3);
    CHECK(alive == 0);
}

TEST_CASE("an exception thrown by the result's own move reaches the awaiting coroutine") {
    manual_loop loop;
    bool reached = false;
    const auto body = [&]() -> task<> {
        try {
            const bomb value = co_await deliver_bomb();
            CHECK_FALSE(value.armed);
        } catch (const std::runtime_error&) {
            reached = true;
        }
    };

    launch(loop, body(), or_terminate{});
    loop.run();

    CHECK(reached);
}

TEST_CASE("a branch's exception stops its siblings and is rethrown when all have ended") {
    manual_loop loop;
    event never;
    event until;
    int alive = 0;
    bool sibling_stopped = false;
    std::string seen;
    const auto sibling = [&]() -> task<io_result<>> {
        const io_result<> waited = co_await never.wait();
        sibling_stopped = waited.error() == errc::canceled;
        co_return waited;
    };
    const auto body = [&]() -> task<> {
        try {
            static_cast<void>(co_await when_all(sibling(), throw_after(until, alive)));
        } catch (const std::runtime_error& error) {
            CHECK(sibling_stopped);
            seen = error.what();
        }
    };
    launch(loop, body(), or_terminate{});
    loop.run();

    until.set();
    loop.run();

    CHECK(seen == "refused");
    CHECK(loop.roots().empty());
}

TEST_CASE("a node forgets a coroutine that ended with an exception") {
    manual_loop loop;
    int alive = 0;
    event until;
    const auto body = [&]() -> task<> {
        try {
            static_cast<void>(co_await throw_at_once(alive));
        } catch (const std::runtime_error&) {
        }
        static_cast<void>(co_await until.wait());
    };

    launch(loop, body(), or_terminate{});
    loop.run();

    CHECK(loop.roots().front().chain.top->awaiting == nullptr);
    until.set();
    loop.run();
}

TEST_CASE(
    "an exception under or_terminate is a failed check that tells it, the task, and what to do") {
    const ending at_once = ending_of([] {
        manual_loop loop;
        int alive = 0;
        launch(loop, throw_at_once(alive), or_terminate{});
        loop.run();
    });
    const ending later = ending_of([] {
        manual_loop loop;
        int alive = 0;
        launch(loop, pass_on(throw_at_once(alive), alive), or_terminate{});
        loop.run();
    });

    CHECK(at_once.signal == SIGABRT);
    CHECK(at_once.said_that("launched with or_terminate: std::runtime_error: refused; catch it"));
    CHECK(at_once.said_that("exception_test.cpp"));  // Where it was launched.
    CHECK(later.signal == SIGABRT);
    CHECK(later.said_that("refused; the task was in "));
    CHECK(later.said_that("pass_on("));
    CHECK(later.said_that("a handler that takes its task_outcome"));
}
